import type { Learned } from '../../schemas/grants.ts'
import type { TaskItem, ToolItem } from '../contracts/approval-record.ts'
import type { Op } from '../store/index.ts'
import type { RunDeps } from './task-deps.ts'
import { isOutdated, type StoredRun, type StoredTask } from './task-records.ts'

type Counted = Pick<StoredTask, 'approval'>

/** Whether the approved runs of the task teach its later runs. */
export const isTeaching = ({ approval: { mode } }: Counted): boolean => mode === 'changes' || mode === 'first_n'

/** Whether the runs of a task use what approved runs have taught: after the first N, and in mode `granted`. */
export const usesLearned = (task: Counted): boolean =>
  task.approval.mode === 'granted' || (isTeaching(task) && task.approval.approvedRuns >= task.approval.firstN)

/**
 * Whether the approval of a call teaches: one that was answered with a scope covers what that says, `once` nothing later. A person who
 * corrected an input did not approve the model's.
 */
const teaches = (item: TaskItem): item is TaskItem & ToolItem =>
  item.kind === 'tool' && item.approved === true && item.state !== 'withdrawn' && item.correctedInput === undefined &&
  item.granted === undefined

/**
 * Returns what the approval of the result of a run teaches its task, and the operations that store it; nothing learned where no later run
 * uses it.
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
