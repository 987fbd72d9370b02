import type { Plan, PlanInput } from '../../schemas/tasks.ts'
import { askStructured, planPrompt } from '../models/index.ts'
import type { Meter } from '../usage/index.ts'
import { internalModelLoaders, type TaskDeps } from './task-deps.ts'

/** Deadline of planning, for all models together; milliseconds. Without an answer the goal becomes a plan of one phase. */
const PLANNING_MS = 15_000
const numbered = (phases: Array<{ description: string }>) =>
  phases.map(({ description }, at) => ({ id: `phase-${at + 1}`, description, status: 'pending' as const }))

/** The plan that a caller supplied. */
export const givenPlan = ({ phases, qualityCriteria = [] }: PlanInput): Plan => ({
  phases: numbered(phases),
  qualityCriteria,
  source: 'user'
})

/** Plans a goal with a model, the fast model first. Never throws: without a plan in time, the goal is the only phase. */
export async function makePlan (
  goal: string,
  deps: Pick<TaskDeps, 'registry' | 'clock' | 'log'> & { meter: Meter },
  signal: AbortSignal
): Promise<Plan> {
  const { clock, meter } = deps
  const { name, schema, instructions, question } = planPrompt
  const end = clock.awake() + PLANNING_MS
  for (const { role, load } of internalModelLoaders(deps)) {
    const limitMs = end - clock.awake()
    if (limitMs <= 0) break
    const answer = await askStructured({
      load,
      role,
      meter,
      name,
      schema,
      instructions,
      text: question(goal),
      limitMs,
      signal,
      clock
    })
    if ('value' in answer) return { phases: numbered(answer.value.phases), qualityCriteria: answer.value.qualityCriteria, source: 'model' }
    if (!answer.refused) deps.log.warn({ problem: answer.problem }, 'a model did not make a plan')
  }
  return {
    phases: numbered([{ description: goal.length > 200 ? `${goal.slice(0, 199)}…` : goal }]),
    qualityCriteria: [],
    source: 'fallback'
  }
}
