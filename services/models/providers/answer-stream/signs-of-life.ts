// Bytes of an answer that bring no part of it, such as comments, still show that its server works. They are told past the SDK, whose
// readers drop them, to whoever waits for the answer. A call is known by its signal, which the SDK passes on as it is.

const listeners = new WeakMap<AbortSignal, () => void>()

/** Calls the listener at each piece of the answer to the call with this signal. */
export const onSignOfLife = (signal: AbortSignal, listener: () => void): void => void listeners.set(signal, listener)

/** Says that bytes of the answer to the call with this signal have arrived. */
export const giveSignOfLife = (signal: AbortSignal | null | undefined): void => {
  if (signal != null) listeners.get(signal)?.()
}
