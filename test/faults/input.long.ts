import { attackInput } from './input.ts'

attackInput(Number(process.env.RUNS ?? 300))
