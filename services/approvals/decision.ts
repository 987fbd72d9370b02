import type { Scope, Until } from '../../schemas/grants.ts'
import type { Answers } from '../../schemas/questions.ts'

/** What a person decided about one approval. */
export interface Decision {
  approvalId: string
  /** Questions are answered, with `answers`, or declined. */
  approved: boolean
  answers?: Answers
  reason?: string
  /** What the approval covers; default: this call alone. */
  scope?: Scope
  until?: Until
}
