import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * The trace of the request or run that the current code works for, in the form of the header `traceparent` (W3C Trace Context). Set only
 * while traces are written.
 */
export const requestTrace = new AsyncLocalStorage<string>()

/** Returns the trace as a field of a record. For work that begins because of a request; never for work that a timer begins. */
export function tracedFields (): { traceparent?: string } {
  const traceparent = requestTrace.getStore()
  return traceparent === undefined ? {} : { traceparent }
}
