export type { BrainService } from './brain.ts'
export type { OwnWords, WordsProblem } from './extraction/own-words.ts'
export { foldText } from './fact-text.ts'
export type { Entry } from './memory.ts'
export { shareSubject } from './recall/terms.ts'
export type { ThreadMemory, ToldMemory } from './recall/told-memory.ts'

/** Finds the user's own words. Its expressions take time and memory, so it is loaded at its first use. */
export const loadOwnWords = () => import('./extraction/own-words.ts')
/** Reads what a model says of a message; loaded at its first use. */
export const loadPointers = () => import('./extraction/pointers.ts')
