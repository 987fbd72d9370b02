export type { Journal } from './journal.ts'
