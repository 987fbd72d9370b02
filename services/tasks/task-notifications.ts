import type { Op, Store } from '../store/index.ts'
import type { Clock } from '../lib/clock.ts'
import { createKeyedLock } from '../lib/keyed-lock.ts'
import { ToolFailed } from '../tools/index.ts'

/** Sends notifications about tasks. */
export interface TaskNotifications {
  /** Returns the operations that open a notification, for the transaction that stores its cause; [] if its key is already in use. */
  ops(notification: TaskNotification): Op[]
  /** Returns the stored notifications that the runs of a task have sent. `createdAt`: milliseconds since the Unix epoch. */
  toldBy(taskId: string): Array<{ runId?: string, createdAt: number }>
  /** Returns the operations that close the notification with this key, for the transaction that ends the cause of the notification. */
  closing(key: string): Op[]
}

/**
 * Returns the operations that notify a person, once a day, that the tasks have used up their daily budget.
 * `now`: milliseconds since the Unix epoch.
 */
export function budgetNotification (notifications: TaskNotifications, text: string, now: number): Op[] {
  const until = new Date(now).setHours(24, 0, 0, 0)
  return notifications.ops({ kind: 'budget', key: `budget/tasks/${until}`, text, until })
}

/** A notification about a task. */
interface TaskNotification {
  kind: 'failing' | 'recovered' | 'budget' | 'provider' | 'told'
  /** While this notification is open, another one with the same key is ignored. */
  key: string
  taskId?: string
  runId?: string
  provider?: string
  text?: string
  /** When the notification closes by itself; milliseconds since the Unix epoch. */
  until?: number
  /** The key of an earlier notification that this one closes. */
  closes?: string
}

const DAY_MS = 24 * 60 * 60 * 1000
/** The most notifications from one run, and from all runs of one task within 24 hours. */
const MOST_OF_RUN = 3
const MOST_OF_DAY = 20

/**
 * Creates the function with which a run of a task notifies the user. A run sends the same text only once. The
 * function throws ToolFailed for a run of a conversation, and beyond the limits.
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
