/** Shorter secrets are not redacted: they occur in ordinary text, and the redaction would reveal more than it hides. */
const MIN_SECRET_LENGTH = 6
const REPLACEMENT = '[secret]'

export type Secrets = ReturnType<typeof createSecrets>

/** Collects all secrets of the service. None is allowed to reach a child process, a log or a response. */
export function createSecrets (...own: Array<string | undefined>) {
  const sources: Array<() => Iterable<string>> = [() => own.filter((secret) => secret !== undefined)]
  const all = (): string[] => [...new Set(sources.flatMap((source) => [...source()]))].filter((secret) => secret !== '')
  let known: string[] = []
  let redactor = createRedactor(known)

  return {
    /** Adds a source of secrets. It is called each time the secrets are needed. */
    add: (source: () => Iterable<string>): void => {
      sources.push(source)
    },
    all,
    /** Returns all secrets except those of the added source `source`. */
    allBut: (source: () => Iterable<string>): string[] => [...new Set(sources.flatMap((each) => each === source ? [] : [...each()]))],
    /** Returns the text with all secrets redacted; see createRedactor. */
    redact (text: string): string {
      const secrets = all()
      if (secrets.length !== known.length || secrets.some((secret, at) => secret !== known[at])) {
        known = secrets
        redactor = createRedactor(secrets)
      }
      return redactor.redact(text)
    }
  }
}

export type Redactor = ReturnType<typeof createRedactor>

/** Creates a redactor that replaces these secrets in texts: in plain form, escaped as in JSON and URLs, in hex and in base64. */
export function createRedactor (secrets: Iterable<string>, by = REPLACEMENT) {
  const variants = [...secrets].filter(({ length }) => length >= MIN_SECRET_LENGTH).flatMap(encodingsOf)
  // The longest first, because one can be part of another.
  const sorted = [...new Set(variants)].sort((a, b) => b.length - a.length)
  const shortest = sorted.at(-1)?.length ?? Infinity
  return {
    redact: (text: string): string => text.length < shortest ? text : sorted.reduce((rest, variant) => rest.replaceAll(variant, by), text),
    /** Whether this JSON text contains any of the secrets. */
    isIn: (json: string): boolean => sorted.some((variant) => json.includes(inJson(variant)))
  }
}

/** Returns the text with the secrets redacted; see createRedactor. */
export const redacted = (text: string, secrets: Iterable<string>, by = REPLACEMENT): string => createRedactor(secrets, by).redact(text)

const inJson = (text: string) => JSON.stringify(text).slice(1, -1)

/**
 * Returns the encodings in which a server might echo a secret. For base64, only the part that does not depend on the neighbouring bytes.
 */
export function encodingsOf (secret: string): string[] {
  const bytes = Buffer.from(secret)
  const base64 = [0, 1, 2].map((shift) => Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64').replace(/=+$/, ''))
    .map((encoded, shift) => encoded.slice(shift && 4, encoded.length - encoded.length % 4))
  const encoded = [bytes.toString('hex'), ...base64, ...base64.map((each) => each.replaceAll('+', '-').replaceAll('/', '_'))]
  return [secret, inJson(secret), encodeURIComponent(secret.toWellFormed()), ...encoded.filter(({ length }) => length >= MIN_SECRET_LENGTH)]
}
