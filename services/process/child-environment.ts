/**
 * Variables of the service: its settings, token and passphrase, the key of the model gateway, and how its own executable runs, which
 * would make every other Electron app that a command starts run as Node.
 */
const SERVICE_VARIABLE = /^(?:(?:LOCAL_AGENT|AI_GATEWAY)_|ELECTRON_RUN_AS_NODE$)/i

/** Shorter secrets are only compared with the whole value, because they occur in ordinary text. */
const MIN_SECRET_LENGTH = 8

/**
 * Returns the environment for a child process: that of the service, without its own variables and without any variable whose
 * value reveals one of `secrets`.
 */
export function childEnvironment (environment: NodeJS.ProcessEnv, secrets: Iterable<string> = []): NodeJS.ProcessEnv {
  const known = [...secrets].filter((secret) => secret !== '')
  const reveals = (value: string) =>
    known.some((secret) => value === secret || (secret.length >= MIN_SECRET_LENGTH && value.includes(secret)))
  const isPublic = ([name, value]: [string, string | undefined]) => value !== undefined && !SERVICE_VARIABLE.test(name) && !reveals(value)
  return Object.fromEntries(Object.entries(environment).filter(isPublic))
}

interface Parts {
  variables: NodeJS.ProcessEnv
  /** Returns the current secrets. */
  secrets: () => Iterable<string>
  /** Removes the values of these variables from the memory that other processes can read; see scrubEnvironment. */
  scrub: (names: string[]) => void
}

/**
 * Creates a function that returns the environment for a child process. Variables withheld from children are also scrubbed from
 * the service's own environment block.
 */
export function createChildEnvironment ({ variables, secrets, scrub }: Parts): () => NodeJS.ProcessEnv {
  const scrubbed = new Set<string>()
  return () => {
    const environment = childEnvironment(variables, secrets())
    const withheld = Object.keys(variables).filter((name) => !Object.hasOwn(environment, name) && !scrubbed.has(name))
    if (withheld.length > 0) scrub(withheld)
    for (const name of withheld) scrubbed.add(name)
    return environment
  }
}
