/** Variables that are ours: our settings, token and passphrase, and the key of the model gateway. */
const OURS = /^(LOCAL_AGENT|AI_GATEWAY)_/i

/** A shorter secret is compared as a whole only: it may be part of anything. */
const TELLING_LENGTH = 8

/**
 * The environment for a child: that of the service without its own variables and without any variable that gives away
 * one of `secrets`, whatever its name.
 */
export function childEnvironment (environment: NodeJS.ProcessEnv, secrets: Iterable<string> = []): NodeJS.ProcessEnv {
  const hidden = [...secrets].filter((secret) => secret !== '')
  const tells = (value: string) => hidden.some((secret) => value === secret || (secret.length >= TELLING_LENGTH && value.includes(secret)))
  return Object.fromEntries(Object.entries(environment).filter(([name, value]) => value !== undefined && !OURS.test(name) && !tells(value)))
}

interface Parts {
  variables: NodeJS.ProcessEnv
  /** The secrets held at the moment. */
  secrets: () => Iterable<string>
  /** Keeps the variables of these names from being read off this process: see conceal. */
  conceal: (names: string[]) => void
}

/** What makes the environment of each child, and keeps from the children what they are not given. */
export function createChildEnvironment ({ variables, secrets, conceal }: Parts): () => NodeJS.ProcessEnv {
  const concealed = new Set<string>()
  return () => {
    const given = childEnvironment(variables, secrets())
    const kept = Object.keys(variables).filter((name) => !Object.hasOwn(given, name) && !concealed.has(name))
    if (kept.length > 0) conceal(kept)
    for (const name of kept) concealed.add(name)
    return given
  }
}
