import type { Learned } from '../../schemas/grants.ts'
import type { TaskItem, ToolItem } from '../contracts/approval-record.ts'
import type { Op } from '../store/index.ts'
import type { RunDeps } from './task-deps.ts'
import { isOutdated, type StoredRun, type StoredTask } from './task-records.ts'

type Counted = Pick<StoredTask, 'approval'>

/** True if the approved runs of the task teach its later runs. */
export const isTeaching = ({ approval: { mode } }: Counted): boolean => mode === 'changes' || mode === 'first_n'

/** True if the runs of a task use what approved runs have taught: after the first N, and in mode `granted`. */
export const usesLearned = (task: Counted): boolean =>
  task.approval.mode === 'granted' || (isTeaching(task) && task.approval.approvedRuns >= task.approval.firstN)

/**
 * True if the approval of a call teaches. An approval with a scope holds for that scope (`once` for nothing later), and so does one that
 * such an answer covers. A person who corrected an input did not approve the model's input.
 */
const teaches = (item: TaskItem): item is TaskItem & ToolItem =>
  item.kind === 'tool' && item.approved === true && item.state !== 'withdrawn' && item.correctedInput === undefined &&
  item.granted === undefined && item.releasedBy === undefined

/**
 * Returns what the approval of a run's result teaches its task, and the operations that store it. Nothing is learned if no later run would
 * use it.
 */
export async function teach (
  { grants, ledger }: Pick<RunDeps, 'grants' | 'ledger'>,
  task: StoredTask,
  run: StoredRun
): Promise<{ learned?: Learned, ops: Op[] }> {
  if (!isTeaching(task) || isOutdated(task, run)) return { ops: [] }
  const owner = { taskId: task.id }
  const { taught, ops } = await grants.learn(owner, (await ledger.ofTask(run.asked)).filter(teaches))
  const { firstN, approvedRuns } = task.approval
  const runsLeft = Math.max(firstN - approvedRuns - 1, 0)
  const isCompleted = runsLeft === 0 && approvedRuns < firstN
  const before = isCompleted ? (await grants.all(owner)).filter(({ source }) => source === 'approved_runs') : []
  const all = new Map([...before, ...taught].map((grant) => [grant.grantId, grant]))
  const shown = [...all.values()].map(({ grantId, toolName, text }) => ({ grantId, toolName, text }))
  return { learned: { inForce: runsLeft === 0, runsLeft, grants: shown }, ops }
}
