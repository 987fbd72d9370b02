import { Type } from '@sinclair/typebox'

const MAX_PHASES = 20
const GOAL_SHOWN = 8_000

/** What a model is told to plan the work of a task. */
export const planPrompt = {
  name: 'plan',
  schema: Type.Object({
    phases: Type.Array(Type.Object({ description: Type.String({ description: 'What is done in this phase, in one sentence' }) }), {
      minItems: 1,
      maxItems: MAX_PHASES
    }),
    qualityCriteria: Type.Array(Type.String({ description: 'What the result must hold, so that it can be checked' }), {
      maxItems: MAX_PHASES
    })
  }),
  instructions: 'Plan the work for an agent that has tools for files, commands and the web. As few phases as the goal needs, ' +
    'one for a simple goal. Answer with the JSON object only.',
  question: (goal: string) => goal.slice(0, GOAL_SHOWN)
}
