/** A shorter secret may be part of anything: striking it out would tell more than it hides. */
const TELLING_LENGTH = 6
const STRUCK = '[secret]'

export type Secrets = ReturnType<typeof createSecrets>

/** Every secret the service holds, from whoever holds them: none may reach a child, a log or an answer. */
export function createSecrets (...own: Array<string | undefined>) {
  const sources: Array<() => Iterable<string>> = [() => own.filter((secret) => secret !== undefined)]
  return {
    /** Another holder; asked at each use. */
    add: (source: () => Iterable<string>): void => { sources.push(source) },
    all: (): string[] => [...new Set(sources.flatMap((source) => [...source()]))].filter((secret) => secret !== '')
  }
}

/** The text without the secrets, as they are and as JSON writes them. */
export function struck (text: string, secrets: Iterable<string>): string {
  // The longest first: one may be part of another.
  const telling = [...secrets].filter(({ length }) => length >= TELLING_LENGTH).sort((a, b) => b.length - a.length)
  return telling.reduce((rest, secret) => rest.replaceAll(secret, STRUCK).replaceAll(JSON.stringify(secret).slice(1, -1), STRUCK), text)
}
