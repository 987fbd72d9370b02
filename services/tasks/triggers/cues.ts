import { isDeepStrictEqual } from 'node:util'
import {
  firingsPrefix,
  type Op,
  type Store,
  taskKey,
  triggerCueKey,
  triggerCuesPrefix,
  triggerOnKey,
  triggersOnPrefix,
  triggerSeenPrefix,
  unlessDamaged
} from '../../store/index.ts'
import type { Firing, Trigger } from '../../../schemas/triggers.ts'
import { outcomeOfFiring } from '../schedule/outcomes.ts'
import { isFinished, type StoredRun, type StoredTask } from '../task-records.ts'

/** The most cues (ended runs of other tasks for which a task must still run) that are stored for one task; further ones are dropped. */
const MOST_CUES = 100

/** The end of a run, stored for another task that still has to run because of this end. `taskId` and `runId` name the run that ended. */
export interface Cue {
  taskId: string
  runId: string
  on: 'completed' | 'failed'
  /** Milliseconds since the Unix epoch. */
  at: number
  /** The ids of the tasks whose runs led to this end, in order. The last one is the task of the run itself. */
  causes: string[]
}

const watchedTasks = ({ triggers = [] }: { triggers?: Trigger[] }): Map<string, Set<string>> => {
  const watched = new Map<string, Set<string>>()
  for (const trigger of triggers) {
    if (trigger.type === 'task') watched.set(trigger.taskId, (watched.get(trigger.taskId) ?? new Set()).add(trigger.on))
  }
  return watched
}

/** Returns the causes for a run that this run triggers: the causes of this run, then its task. */
export const causesOf = ({ causes = [], taskId }: Pick<StoredRun, 'causes' | 'taskId'>): string[] => [...causes, taskId]

/** Returns the operations that update the index of tasks with triggers on other tasks; [] if the triggers of the task have not changed. */
export function triggerIndexOps (before: StoredTask | undefined, task: StoredTask): Op[] {
  if (isDeepStrictEqual(before?.triggers ?? [], task.triggers ?? [])) return []
  const [was, is] = [watchedTasks(before ?? {}), watchedTasks(task)]
  const ops: Op[] = []
  for (const taskId of was.keys()) if (!is.has(taskId)) ops.push({ type: 'del', key: triggerOnKey(taskId, task.id) })
  for (const [taskId, on] of is) ops.push({ type: 'put', key: triggerOnKey(taskId, task.id), value: { on: [...on] } })
  return ops
}

/**
 * Returns the operations that store cues for the tasks with a trigger on these ended runs, and the ids of those tasks.
 * The operations belong in the transaction that stores the ends. `before` returns a run as it is stored until then.
 */
export async function cueOps (
  store: Store,
  runs: readonly StoredRun[],
  before: (runId: string) => Promise<Pick<StoredRun, 'status'> | undefined>
): Promise<{ ops: Op[], cued: string[] }> {
  const ops: Op[] = []
  const cued: string[] = []
  for (const run of runs) {
    const { runId, taskId, status, completedAt: at } = run
    if ((status !== 'completed' && status !== 'failed') || at === undefined) continue
    for await (const [key, { on }] of store.list<{ on: string[] }>(triggersOnPrefix(taskId), { damaged () {} })) {
      const dependent = key.slice(triggersOnPrefix(taskId).length)
      if (!on.includes(status) || (await before(runId))?.status === status) continue
      const task = await unlessDamaged(store.get<StoredTask>(taskKey(dependent)))
      if (task === undefined || task.status === 'planned' || isFinished(task)) continue
      if (await countOf(store.keys(triggerCuesPrefix(dependent))) >= MOST_CUES) continue
      const cue: Cue = { taskId, runId, on: status, at, causes: causesOf(run) }
      ops.push({ type: 'put', key: triggerCueKey(dependent, runId), value: cue })
      cued.push(dependent)
    }
  }
  return { ops, cued }
}

async function countOf (keys: AsyncIterable<string>): Promise<number> {
  let count = 0
  for await (const key of keys) count += key === '' ? 0 : 1
  return count
}

/** Returns the operations that remove the stored state of the triggers of a task. Its firings are not removed. */
export async function triggerRemovals (store: Store, task: Pick<StoredTask, 'id' | 'triggers'>): Promise<Op[]> {
  const keys = [...watchedTasks(task).keys()].map((taskId) => triggerOnKey(taskId, task.id))
  for (const prefix of [triggerSeenPrefix(task.id), triggerCuesPrefix(task.id)]) for await (const key of store.keys(prefix)) keys.push(key)
  return keys.map((key): Op => ({ type: 'del', key }))
}

/** Returns the operations that remove up to `limit` of the oldest firings of a task. */
export async function firingRemovals (store: Store, taskId: string, limit: number): Promise<Op[]> {
  const ops: Op[] = []
  const damaged = (key: string) => void ops.push({ type: 'del', key })
  for await (const [key, firing] of store.list<Firing>(firingsPrefix(taskId), { limit, damaged })) {
    ops.push({ type: 'del', key }, ...outcomeOfFiring('del', taskId, firing))
  }
  return ops
}
