import { Type } from '@sinclair/typebox'
import { ExpectsSchema } from '../../../schemas/tasks.ts'

const MAX_PHASES = 20
const GOAL_SHOWN = 8_000

const plan = {
  phases: Type.Array(Type.Object({ description: Type.String({ description: 'What is done in this phase, in one sentence' }) }), {
    minItems: 1,
    maxItems: MAX_PHASES
  }),
  qualityCriteria: Type.Array(Type.String({ description: 'What the result must hold, so that it can be checked' }), {
    maxItems: MAX_PHASES
  })
}

/** What a model is told to plan the work of a task. */
export const planPrompt = {
  name: 'plan',
  /** Models that know only the older shape leave out what they expect. */
  schema: Type.Object({ ...plan, expects: Type.Optional(ExpectsSchema) }),
  asked: Type.Object({ ...plan, expects: ExpectsSchema }),
  instructions: 'Plan the work for an agent that has tools for files, commands and the web. As few phases as the goal needs, ' +
    'one for a simple goal. `expects` is the effect that the goal asks for, also where it asks for it on a condition: files for files ' +
    'that are written, changed, moved or deleted, message for something that is sent or posted to somebody, command for a program that ' +
    'is to run, none for an answer alone; of several, the one that matters most. Answer with the JSON object only.',
  question: (goal: string) => goal.slice(0, GOAL_SHOWN)
}
