import { createError } from '@fastify/error'

export const BadMessage = createError('ERR_INVALID_MESSAGES', '%s', 400)

/** A message as the client sent it: checked by the schema to have a role, and no more than that. */
export interface RawMessage {
  role: string
  content?: unknown
  parts?: unknown
  id?: unknown
  [field: string]: unknown
}

/** What of a failed check is shown: the rule that got deepest into the value is the one that was meant. */
export function deepestIssue (issues: ReadonlyArray<{ path: readonly PropertyKey[], message: string }>) {
  return issues.toSorted((a, b) => b.path.length - a.path.length)[0]
}
