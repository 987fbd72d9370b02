import type { JudgeCase } from './case-types.ts'

/** A report with what its plan expected, from the words of the goal alone. `judgement` is what a careful judge answers. */
export interface ReportCase extends Omit<JudgeCase, 'expect'> {
  kind: 'success' | 'nothing' | 'partial' | 'failure' | 'effect' | 'count' | 'tests' | 'file' | 'mail' | 'deletion'
  expects: 'none' | 'files' | 'message' | 'command'
}
