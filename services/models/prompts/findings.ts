import { Type } from '@sinclair/typebox'

const GOAL_SHOWN = 2_000
const REPORT_SHOWN = 16_000

/** What role `fast` is told to find, in the report of a run, what later runs of the task need. */
export const learningPrompt = {
  name: 'task-memory',
  schema: Type.Object({
    findings: Type.Array(Type.String({ description: 'A fact found that later runs should know' }), { maxItems: 10 }),
    decisions: Type.Array(Type.String({ description: 'A choice made that later runs should keep to' }), { maxItems: 10 })
  }),
  instructions: 'Extract what later runs of this task should know from the report of this one: facts it found and choices it made. ' +
    'Only what the report says; nothing when there is nothing. Answer with the JSON object only.',
  question: (goal: string, report: string) => `Goal: ${goal.slice(0, GOAL_SHOWN)}\n\nReport:\n${report.slice(0, REPORT_SHOWN)}`
}
