import { defineError } from '../lib/service-error.ts'

export const BadMessage = defineError('ERR_INVALID_MESSAGES', '%s')

/** A message as the client sent it. The schema has checked only that it has a role. */
export interface RawMessage {
  role: string
  content?: unknown
  parts?: unknown
  id?: unknown
  [field: string]: unknown
}

/** Returns the most helpful issue of a failed check of a union: the alternative with the longest path is most likely the intended one. */
export function deepestIssue (issues: ReadonlyArray<{ path: readonly PropertyKey[], message: string }>) {
  return issues.toSorted((a, b) => b.path.length - a.path.length)[0]
}
