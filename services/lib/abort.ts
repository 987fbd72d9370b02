/** Why work was stopped. The recorded result depends on it. */
export type AbortKind = 'client' | 'stop' | 'pause' | 'cancel' | 'delete' | 'shutdown' | 'timeout' | 'budget'

/** The reason of every AbortSignal of the service. */
export class Aborted extends Error {
  readonly kind: AbortKind

  constructor (kind: AbortKind, message: string = `aborted: ${kind}`) {
    super(message)
    this.name = 'AbortError'
    this.kind = kind
  }
}

/** Returns the kind of an `Aborted`; undefined for any other error, also for an AbortError of Node.js. */
export function abortKind (error: unknown): AbortKind | undefined {
  return error instanceof Aborted ? error.kind : undefined
}
