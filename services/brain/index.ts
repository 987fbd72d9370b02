export type { BrainService } from './brain.ts'
export type { OwnWords, WordsProblem } from './extraction/own-words.ts'
export { foldText } from './fact-text.ts'
export type { Entry } from './memory.ts'
export { shareSubject } from './recall/terms.ts'
export type { ThreadMemory, ToldMemory } from './recall/told-memory.ts'

/** Finds the user's own words. Loaded on first use, because its expressions take time and memory. */
export const loadOwnWords = () => import('./extraction/own-words.ts')
/** Reads the places that a model points at in messages; loaded on first use. */
export const loadPointers = () => import('./extraction/pointers.ts')
