import type { TaskEvaluation } from '../../../schemas/evaluation.ts'
import { type JudgeDeps, judgeRun } from '../../judge/index.ts'
import type { RunEvent } from '../../contracts/run-events.ts'
import { PHASE_TOOL } from '../../contracts/model-texts.ts'
import type { StoredRun, StoredTask } from '../task-records.ts'

/** Judges a run of a task by its history. `refinement` is the message with which the run may mend its work once. */
export async function judgeTaskRun (
  { task, run, log }: {
    task: Pick<StoredTask, 'goal' | 'plan' | 'cwd'>,
    run: Pick<StoredRun, 'phases' | 'evaluation' | 'object'>,
    log: readonly RunEvent[]
  },
  deps: JudgeDeps,
  signal: AbortSignal
): Promise<{ evaluation: TaskEvaluation, refinement: string, report: string }> {
  const { evaluation: { score, ...rest }, ...judged } = await judgeRun({
    goal: task.goal,
    criteria: task.plan.qualityCriteria,
    plan: run.phases.map(({ description, status }) => `${description}: ${status}`),
    // Progress reports are no work.
    events: log.filter((event) => !('toolName' in event) || event.toolName !== PHASE_TOOL),
    cwd: task.cwd,
    object: run.object,
    earlier: run.evaluation?.claims
  }, deps, signal)
  return { evaluation: { ...rest, qualityScore: score }, ...judged }
}
