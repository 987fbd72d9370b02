import { AsyncLocalStorage } from 'node:async_hooks'
import type { RequestId } from '@modelcontextprotocol/sdk/types.js'

/** A message that is being sent, and the exchanges over HTTP that belong to it. */
export interface Sending {
  /** The request that waits for its answer; undefined for another message. */
  id?: RequestId
  /** Ends the exchanges. */
  abort: AbortController
  /** The server answers with a stream of events. */
  hasStream: boolean
}

/**
 * The message to which an exchange belongs. The SDK's transport sends all exchanges through one `fetch`, also those that resume
 * the stream of an answer.
 */
export const currentSending = new AsyncLocalStorage<Sending>()

/** Runs the sending of a message. */
export const sendAs = <T>(id: RequestId | undefined, send: (sending: Sending) => Promise<T>): Promise<T> => {
  const sending: Sending = { ...id !== undefined && { id }, abort: new AbortController(), hasStream: false }
  return currentSending.run(sending, () => send(sending))
}
