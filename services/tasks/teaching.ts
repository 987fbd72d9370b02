import type { Learned } from '../../schemas/grants.ts'
import type { TaskItem, ToolItem } from '../contracts/approval-record.ts'
import type { Op } from '../store/index.ts'
import type { RunDeps } from './task-deps.ts'
import { isOutdated, type StoredRun, type StoredTask } from './task-records.ts'

type Counted = Pick<StoredTask, 'approval'>

/** True if approved runs of the task create learned grants for its later runs. */
export const isTeaching = ({ approval: { mode } }: Counted): boolean => mode === 'changes' || mode === 'first_n'

/** True if the runs of the task use learned grants: after the first N approved runs, and in mode `granted`. */
export const usesLearned = (task: Counted): boolean =>
  task.approval.mode === 'granted' || (isTeaching(task) && task.approval.approvedRuns >= task.approval.firstN)

/**
 * True if the approval of a call creates a learned grant. An approval with a scope does not, because the scope
 * says how far it holds (`once`: for no later call); nor does an approval that such a scope released. A person
 * who corrected an input did not approve the model's input.
 */
const teaches = (item: TaskItem): item is TaskItem & ToolItem =>
  item.kind === 'tool' && item.approved === true && item.state !== 'withdrawn' && item.correctedInput === undefined &&
  item.granted === undefined && item.releasedBy === undefined

/**
 * Returns the learned grants that the approval of the result of a run gives its task, and the operations that
 * store them. `learned` is absent if no later run would use such grants.
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
