// Bytes of an answer that contain no part, such as SSE comment lines, still show that the server works. The SDK's readers drop such bytes,
// so they are reported past the SDK to the caller that waits for the answer. A call is identified by its signal, which the SDK passes on
// unchanged.

const listeners = new WeakMap<AbortSignal, () => void>()

/** Calls the listener when bytes of the answer to the call with this signal are reported. */
export const onSignOfLife = (signal: AbortSignal, listener: () => void): void => void listeners.set(signal, listener)

/** Reports that bytes of the answer to the call with this signal have arrived. */
export const giveSignOfLife = (signal: AbortSignal | null | undefined): void => {
  if (signal != null) listeners.get(signal)?.()
}
