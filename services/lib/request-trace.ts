import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * The trace of the request, or of the run, on whose behalf code runs, as the header `traceparent` of W3C Trace Context has it. Set only
 * while traces are written.
 */
export const requestTrace = new AsyncLocalStorage<string>()

/** The trace as a field of a record, for work that begins because of a request; never for what a timer begins. */
export function tracedFields (): { traceparent?: string } {
  const traceparent = requestTrace.getStore()
  return traceparent === undefined ? {} : { traceparent }
}
