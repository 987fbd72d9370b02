/** The longest time for which all streams together may block the event loop, milliseconds. */
const SLICE_MS = 4

// The slice is global, because there is one event loop: with a slice for each stream, thirty streams would delay a health check
// by thirty slices. It uses real time, whatever clock the services use.

/** How many waiting callers resume at the start of a slice: a thousand at once would exceed the slice. */
const MAX_RESUMED = 32

const waiting: Array<() => void> = []
let sliceStart: number | undefined

/** Call it after each piece of work. Returns undefined while the slice lasts, then a promise that resolves in a later slice. */
export function yieldToEventLoop (): Promise<void> | undefined {
  const now = performance.now()
  if (sliceStart === undefined) {
    sliceStart = now
    setImmediate(nextTurn)
  }
  if (now - sliceStart <= SLICE_MS) return undefined
  return new Promise((resolve) => {
    waiting.push(resolve)
  })
}

/** Starts a new slice after other events were handled: the longest waiting callers resume. */
function nextTurn () {
  for (const resolve of waiting.splice(0, MAX_RESUMED)) resolve()
  sliceStart = waiting.length > 0 ? performance.now() : undefined
  if (sliceStart !== undefined) setImmediate(nextTurn)
}
