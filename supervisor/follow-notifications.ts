import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { readLines } from './read-lines.ts'

/** A notification for a person; see `GET /notifications` of the service. */
export interface Notification {
  notificationId: string
  /** One of waiting, failing, recovered, budget, provider, told and boxed. Later versions might add kinds. */
  kind: string
  taskId?: string
  threadId?: string
  runId?: string
  /** A sentence that a locked screen is allowed to show: it holds no text of a task, a person or a model. */
  title: string
  /** Details: the goal of the task and text of its model. */
  text?: string
  /** True if this repeats a notification of a day ago that still holds. */
  reminder: boolean
  /** Milliseconds since the Unix epoch. */
  createdAt: number
}

export interface NotificationHandlers {
  /** Shows a notification. Called only for those that no other shell or page shows. */
  onNotification: (notification: Notification) => void
  /** The notification is closed, so its desktop notification can be removed. */
  onNotificationClosed?: (notificationId: string) => void
}

/** Timeout of a request to the service, in milliseconds. */
const ANSWER_MS = 10_000
/** Delay before the event stream is connected again, in milliseconds. */
const AGAIN_MS = 1_000

/**
 * Passes notifications to `onNotification` until the signal aborts: first those that are open when a connection begins, then new ones from
 * the event stream. Claims each one first, so that only one shell or page shows it.
 */
export async function followNotifications (
  { url, token, signal }: { url: string, token?: string, signal: AbortSignal },
  { onNotification, onNotificationClosed = () => {} }: NotificationHandlers
): Promise<void> {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }

  async function ask<T> (path: string, body?: object): Promise<T> {
    const answer = await fetch(`${url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)])
    })
    if (!answer.ok) throw new Error(`the service answers ${answer.status}`)
    return await answer.json() as T
  }

  /** Shows a notification, unless another shell or page has claimed it. */
  async function show (notification: Notification) {
    const { first } = await ask<{ first: boolean }>(`/notifications/${notification.notificationId}`, { shown: true })
    if (first) onNotification(notification)
  }

  function read (line: string) {
    const event = line.startsWith('data: ') ? eventIn(line.slice('data: '.length)) : undefined
    if (event?.type === 'notification') show(event).catch(() => {})
    if (event?.type === 'notification:closed') onNotificationClosed(event.notificationId)
  }

  while (!signal.aborted) {
    const over = new AbortController()
    try {
      const connection = AbortSignal.any([signal, over.signal])
      const { body } = await fetch(`${url}/events?types=notification,notification:closed`, { headers, signal: connection })
      const lines = readLines(Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]), read)
      // Notifications from before this connection.
      const { notifications } = await ask<{ notifications: Array<Notification & { needsShowing: boolean }> }>('/notifications')
      for (const notification of notifications) if (notification.needsShowing) await show(notification)
      await lines
    } catch {
      // The next connection reads the missed notifications.
    } finally {
      over.abort()
    }
    await sleep(AGAIN_MS, undefined, { signal }).catch(() => {})
  }
}

/** Returns the event of a `data:` line; undefined for a truncated line, for example when the service has ended. */
function eventIn (json: string): Notification & { type: string } | undefined {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
