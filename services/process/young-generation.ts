import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/** V8's default: the young generation doubles when much of it survives, up to 32 MB, and then keeps that size. */
const GROWTH = 2

/** Electron and NW.js might have frozen V8's flags. Setting one would end the process. */
const isNode = !('electron' in process.versions) && !('nw' in process.versions)

const setGrowth = (factor: number) => {
  if (isNode) setFlagsFromString(`--semi-space-growth-factor=${factor}`)
}

// A young generation that is not allowed to grow is collected more often. That costs almost nothing while no model is streaming, and a
// third of the tokens per second while many are.

/**
 * Keeps the young generation of V8's heap at its present size, which is 2 MB when the process has just started. V8 rejects compiled code
 * that was stored under other flags, including that of Node's own modules. So call it after such code was loaded.
 */
export const keepYoungGeneration = (): void => setGrowth(1)

/** Lets the young generation grow as V8 wants, and V8 store compiled code for the next start. */
export const letYoungGenerationGrow = (): void => setGrowth(GROWTH)

/**
 * The largest young generation, in bytes. With more, a collection pauses the main thread for 17 ms; with half of it, a short run takes an
 * eighth more CPU time.
 */
const MOST_BYTES = 32 * 1024 * 1024

/**
 * Creates the control of the young generation: `grow` lets it grow up to MOST_BYTES. V8 reads its own size limit only once, before any code
 * runs, but the growth factor at each growth.
 */
export function createYoungGeneration (): { grow: () => void, close: () => void } {
  let isGrowing = false
  const size = () => getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')!.space_size
  const observer = new PerformanceObserver(() => {
    if (isGrowing && size() >= MOST_BYTES) stop()
  })
  function stop () {
    isGrowing = false
    observer.disconnect()
    keepYoungGeneration()
  }
  return {
    grow () {
      if (isGrowing || size() >= MOST_BYTES) return
      isGrowing = true
      observer.observe({ entryTypes: ['gc'] })
      letYoungGenerationGrow()
    },
    close: stop
  }
}
