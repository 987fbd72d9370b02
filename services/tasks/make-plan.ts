import { Type } from '@sinclair/typebox'
import type { Plan, PlanInput } from '../../schemas/tasks.ts'
import { askStructured } from '../models/structured-call.ts'
import { internalModelLoaders, type TaskDeps } from './task-deps.ts'

/** Deadline of planning, for all models together; milliseconds. Without an answer the goal becomes a plan of one phase. */
const PLANNING_MS = 15_000
const MAX_PHASES = 20
const GOAL_SHOWN = 8_000

const Planned = Type.Object({
  phases: Type.Array(Type.Object({ description: Type.String({ description: 'What is done in this phase, in one sentence' }) }), {
    minItems: 1,
    maxItems: MAX_PHASES
  }),
  qualityCriteria: Type.Array(Type.String({ description: 'What the result must hold, so that it can be checked' }), {
    maxItems: MAX_PHASES
  })
})

const INSTRUCTIONS = 'Plan the work for an agent that has tools for files, commands and the web. As few phases as the goal needs, ' +
  'one for a simple goal. Answer with the JSON object only.'

const numbered = (phases: Array<{ description: string }>) =>
  phases.map(({ description }, at) => ({ id: `phase-${at + 1}`, description, status: 'pending' as const }))

/** The plan that a caller supplied. */
export const givenPlan = ({ phases, qualityCriteria = [] }: PlanInput): Plan => ({
  phases: numbered(phases),
  qualityCriteria,
  source: 'user'
})

/** Plans a goal with a model, the fast model first. Never throws: without a plan in time, the goal is the only phase. */
export async function makePlan (goal: string, deps: Pick<TaskDeps, 'registry' | 'clock' | 'log'>, signal: AbortSignal): Promise<Plan> {
  const { clock } = deps
  const end = clock.awake() + PLANNING_MS
  for (const load of internalModelLoaders(deps)) {
    const limitMs = end - clock.awake()
    if (limitMs <= 0) break
    const answer = await askStructured({
      load,
      name: 'plan',
      schema: Planned,
      instructions: INSTRUCTIONS,
      text: goal.slice(0, GOAL_SHOWN),
      limitMs,
      signal,
      clock
    })
    if ('value' in answer) return { phases: numbered(answer.value.phases), qualityCriteria: answer.value.qualityCriteria, source: 'model' }
    deps.log.warn({ problem: answer.problem }, 'a model did not make a plan')
  }
  return {
    phases: numbered([{ description: goal.length > 200 ? `${goal.slice(0, 199)}…` : goal }]),
    qualityCriteria: [],
    source: 'fallback'
  }
}
