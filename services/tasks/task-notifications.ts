import type { Op, Store } from '../store/index.ts'
import type { Clock } from '../lib/clock.ts'
import { createKeyedLock } from '../lib/keyed-lock.ts'
import { ToolFailed } from '../tools/index.ts'

/** Tells a person of tasks. */
export interface TaskNotifications {
  /** Returns the operations that tell of something once, for the transaction that stores it. */
  ops(notification: TaskNotification): Op[]
  /** What a task has told its person, as far as it is kept. Milliseconds since the Unix epoch. */
  toldBy(taskId: string): Array<{ runId?: string, createdAt: number }>
  /** Returns the operations that say that what a key stands for is over, for the transaction that ends it. */
  closing(key: string): Op[]
}

/** Returns the operations that tell a person, once a day, that the tasks have used up their budget. `now`: epoch milliseconds. */
export function budgetNotification (notifications: TaskNotifications, text: string, now: number): Op[] {
  const until = new Date(now).setHours(24, 0, 0, 0)
  return notifications.ops({ kind: 'budget', key: `budget/tasks/${until}`, text, until })
}

/** What a person is told of tasks. */
interface TaskNotification {
  kind: 'failing' | 'recovered' | 'budget' | 'provider' | 'told'
  /** The same key tells nothing while its notification is open. */
  key: string
  taskId?: string
  runId?: string
  provider?: string
  text?: string
  /** When it is no longer true. Milliseconds since the Unix epoch. */
  until?: number
  /** The key of the notification that is over by this one. */
  closes?: string
}

const DAY_MS = 24 * 60 * 60 * 1000
/** How often a run, and a task in a day, tell something. */
const MOST_OF_RUN = 3
const MOST_OF_DAY = 20

/**
 * Creates the function with which a run tells its person something; the same words of a run once. Throws ToolFailed for a run of a
 * conversation, and beyond the limits.
 */
export function createTellUser ({ store, clock, repository, notifications }: {
  store: Pick<Store, 'transact' | 'digest'>,
  clock: Clock,
  repository: { runById: (runId: string) => Promise<{ taskId: string } | undefined> },
  notifications: TaskNotifications
}) {
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
