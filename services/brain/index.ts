export type { BrainService } from './brain.ts'
export type { OwnWords, WordsProblem } from './extraction/own-words.ts'
export { foldText } from './fact-text.ts'
export type { Entry } from './memory.ts'
export { shareSubject } from './recall/terms.ts'
export type { ThreadMemory, ToldMemory } from './recall/told-memory.ts'

/** Loads the module that finds the user's own words. Not loaded at start, because its regular expressions take time and memory. */
export const loadOwnWords = () => import('./extraction/own-words.ts')
/**
 * Loads the module that verifies the pointers of a model: the places in messages that it names. Not loaded at start, because its regular
 * expressions take time and memory.
 */
export const loadPointers = () => import('./extraction/pointers.ts')
