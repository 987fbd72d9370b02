import type { Op } from '../store/index.ts'

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
