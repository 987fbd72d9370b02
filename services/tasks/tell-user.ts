import type { Clock } from '../lib/clock.ts'
import { createKeyedLock } from '../lib/keyed-lock.ts'
import type { Store } from '../store/index.ts'
import { ToolFailed } from '../tools/index.ts'
import type { TaskNotifications } from './task-notifications.ts'
import type { TaskRepository } from './task-repository.ts'

const DAY_MS = 24 * 60 * 60 * 1000
/** How often a run, and a task in a day, tell something. */
const MOST_OF_RUN = 3
const MOST_OF_DAY = 20

interface Parts {
  store: Pick<Store, 'transact' | 'digest'>
  clock: Clock
  repository: Pick<TaskRepository, 'runById'>
  notifications: TaskNotifications
}

/**
 * Creates the function with which a run tells its person something; the same words of a run once. Throws ToolFailed for a run of a
 * conversation, and beyond the limits.
 */
export function createTellUser ({ store, clock, repository, notifications }: Parts) {
  const locked = createKeyedLock()
  return async (runId: string, text: string): Promise<void> => {
    const run = await repository.runById(runId)
    if (run === undefined) throw new ToolFailed('Only background tasks tell something in this way. Say it in your answer.')
    const { taskId } = run
    await locked(taskId, async () => {
      const ops = notifications.ops({ kind: 'told', key: `told/${runId}/${store.digest(text)}`, taskId, runId, text })
      if (ops.length === 0) return
      const told = notifications.toldBy(taskId)
      if (told.filter((each) => each.runId === runId).length >= MOST_OF_RUN) {
        throw new ToolFailed(`This run has told the user ${MOST_OF_RUN} things already; put the rest into your report.`)
      }
      if (told.filter(({ createdAt }) => createdAt > clock.now() - DAY_MS).length >= MOST_OF_DAY) {
        throw new ToolFailed(`This task has told the user ${MOST_OF_DAY} things today; put what is new into your report.`)
      }
      await store.transact(ops)
    })
  }
}
