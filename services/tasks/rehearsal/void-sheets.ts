import type { StoredSheet } from '../../contracts/sheet-record.ts'
import { inputDigest } from '../../approvals/index.ts'
import type { StoredTask } from '../task-records.ts'

/** Returns a digest of what the runs of a task are to do, and where. */
export const goalDigest = ({ goal, plan: { phases, qualityCriteria }, cwd }: StoredTask): string =>
  inputDigest({ goal, phases: phases.map(({ description }) => description), qualityCriteria, cwd })

const GOAL_CHANGED = 'The goal, the plan or the folder of the task was changed since the rehearsal.'

/** Returns why nothing of a sheet can be accepted any more; undefined while it can. */
export const whyVoid = ({ goal }: StoredSheet, task: StoredTask): string | undefined =>
  goal === goalDigest(task) ? undefined : GOAL_CHANGED
