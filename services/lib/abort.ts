/** Why work was stopped. What is recorded of it depends on this. */
export type AbortKind = 'client' | 'stop' | 'pause' | 'cancel' | 'delete' | 'shutdown' | 'timeout'

/** The reason every AbortSignal of ours carries. */
export class Aborted extends Error {
  readonly kind: AbortKind

  constructor (kind: AbortKind, message: string = `aborted: ${kind}`) {
    super(message)
    this.name = 'AbortError'
    this.kind = kind
  }
}

/** The kind of an abort, whatever was thrown; undefined for an error that is no abort of ours. */
export function abortKind (error: unknown): AbortKind | undefined {
  return error instanceof Aborted ? error.kind : undefined
}
