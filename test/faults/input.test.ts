import { attackInput } from './input.ts'

attackInput(12)
