/** A shorter secret may be part of anything: striking it out would tell more than it hides. */
const TELLING_LENGTH = 6
const STRUCK = '[secret]'

export type Secrets = ReturnType<typeof createSecrets>

/** Every secret the service holds, from whoever holds them: none may reach a child, a log or an answer. */
export function createSecrets (...own: Array<string | undefined>) {
  const sources: Array<() => Iterable<string>> = [() => own.filter((secret) => secret !== undefined)]
  return {
    /** Another holder; asked at each use. */
    add: (source: () => Iterable<string>): void => {
      sources.push(source)
    },
    all: (): string[] => [...new Set(sources.flatMap((source) => [...source()]))].filter((secret) => secret !== '')
  }
}

export type Redactor = ReturnType<typeof createRedactor>

/** Strikes these secrets out of any number of texts: as they are, as JSON and addresses write them, and in hex and base64. */
export function createRedactor (secrets: Iterable<string>, by = STRUCK) {
  const telling = [...secrets].filter(({ length }) => length >= TELLING_LENGTH).flatMap(shapes)
  // The longest first: one may be part of another.
  const found = [...new Set(telling)].sort((a, b) => b.length - a.length)
  const shortest = found.at(-1)?.length ?? Infinity
  return {
    redact: (text: string): string => text.length < shortest ? text : found.reduce((rest, shape) => rest.replaceAll(shape, by), text),
    /** Whether there is anything to strike out of what this JSON says. */
    isIn: (json: string): boolean => found.some((shape) => json.includes(inJson(shape)))
  }
}

/** The text without the secrets; see createStriker. */
export const redacted = (text: string, secrets: Iterable<string>, by = STRUCK): string => createRedactor(secrets, by).redact(text)

const inJson = (text: string) => JSON.stringify(text).slice(1, -1)

/** How a server may write what it was sent. Of base64 the part that does not hang on what stands before and behind. */
function shapes (secret: string): string[] {
  const bytes = Buffer.from(secret)
  const base64 = [0, 1, 2].map((shift) => Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64').replace(/=+$/, ''))
    .map((encoded, shift) => encoded.slice(shift && 4, encoded.length - encoded.length % 4))
  const encoded = [bytes.toString('hex'), ...base64, ...base64.map((each) => each.replaceAll('+', '-').replaceAll('/', '_'))]
  return [secret, inJson(secret), encodeURIComponent(secret.toWellFormed()), ...encoded.filter(({ length }) => length >= TELLING_LENGTH)]
}
