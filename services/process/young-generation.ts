import { setFlagsFromString } from 'node:v8'

/** V8's own value: the young generation doubles when much of it survives, up to 32 MB, which it then keeps. */
const GROWTH = 2

/** Electron and NW.js may have frozen V8's flags, and to set one would end the process. */
const isNode = !('electron' in process.versions) && !('nw' in process.versions)

const setGrowth = (factor: number) => {
  if (isNode) setFlagsFromString(`--semi-space-growth-factor=${factor}`)
}

// A young generation that may not grow is collected more often. It costs nothing worth mentioning while no model is streaming, and a third
// of the tokens per second while many are.

/**
 * Keeps the young generation of V8's heap as small as it is, 2 MB when the process has just started. V8 rejects compiled code that was
 * stored under other flags, that of Node's own modules too, so call it when such code was loaded.
 */
export const keepYoungGeneration = (): void => setGrowth(1)

/** Lets the young generation grow as V8 wants, and V8 store compiled code for the next start. */
export const letYoungGenerationGrow = (): void => setGrowth(GROWTH)
