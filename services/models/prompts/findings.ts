import { Type } from '@sinclair/typebox'

const GOAL_SHOWN = 2_000
const REPORT_SHOWN = 16_000
const ENTRY_SHOWN = 200

/** What role `fast` is told to find, in the report of a run, what later runs of the task need. */
export const learningPrompt = {
  name: 'task-memory',
  schema: Type.Object({
    findings: Type.Array(Type.String({ description: 'A fact found that later runs should know' }), { maxItems: 10 }),
    decisions: Type.Array(Type.String({ description: 'A choice made that later runs should keep to' }), { maxItems: 10 }),
    outdated: Type.Optional(Type.Array(Type.Integer({ description: 'The number of a known entry that the report contradicts' })))
  }),
  instructions: 'Extract what later runs of this task should know from the report of this one: facts it found and choices it made. ' +
    'Only what the report says; nothing when there is nothing. Name the numbers of known entries that the report shows to be no longer ' +
    'true. Answer with the JSON object only.',
  question: (goal: string, report: string, known: string[]) =>
    [
      `Goal: ${goal.slice(0, GOAL_SHOWN)}`,
      ...known.length > 0 ? [`Known so far:\n${known.map((entry, at) => `${at + 1}. ${entry.slice(0, ENTRY_SHOWN)}`).join('\n')}`] : [],
      `Report:\n${report.slice(0, REPORT_SHOWN)}`
    ].join('\n\n')
}
