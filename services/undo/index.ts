export type { Undo } from './undo.ts'
