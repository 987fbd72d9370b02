export type { Copies } from './copies.ts'
