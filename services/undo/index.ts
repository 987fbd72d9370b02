export type { Undo } from './undo.ts'
export { largestKept } from './space.ts'
