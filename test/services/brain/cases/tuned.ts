// The half that the rules may be tuned with.
import { sentences } from './tuned-sentences.ts'
import { statements } from './tuned-statements.ts'

export const tuned = [...statements, ...sentences]
