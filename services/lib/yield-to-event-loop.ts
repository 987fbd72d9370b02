/** How long the streams together may keep the event loop from everything else, milliseconds. */
const SLICE_MS = 4

// There is one event loop, so there is one of this: with a slice for each stream, thirty streams would keep a health
// check waiting for thirty slices. Its time is the real one, whatever clock the services are given.

/** Who may go on together when a slice begins: with a thousand at once no slice would be one. */
const AT_ONCE = 32

const waiting: Array<() => void> = []
let sliceStart: number | undefined

/** Call it after each piece of work. Undefined while the slice lasts; then a promise of the next one. */
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

/** After all else has had its turn those who wait longest do one more piece, and on while the new slice lasts. */
function nextTurn () {
  for (const resolve of waiting.splice(0, AT_ONCE)) resolve()
  sliceStart = waiting.length > 0 ? performance.now() : undefined
  if (sliceStart !== undefined) setImmediate(nextTurn)
}
