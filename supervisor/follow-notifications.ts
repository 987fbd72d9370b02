import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { readLines } from './read-lines.ts'

/** What a person is to be told; see `GET /notifications` of the service. */
export interface Notification {
  notificationId: string
  /** waiting, failing, recovered, budget, provider, told or boxed; later versions may add kinds. */
  kind: string
  taskId?: string
  threadId?: string
  runId?: string
  /** A sentence without words of a task, a person or a model, which a locked screen may show. */
  title: string
  /** The goal of the task and words of its model. */
  text?: string
  /** It was said a day ago, and is still so. */
  reminder: boolean
  /** Milliseconds since the Unix epoch. */
  createdAt: number
}

export interface NotificationHandlers {
  /** Shows a notification: no other shell or page does. */
  onNotification: (notification: Notification) => void
  /** Its desktop notification can be removed. */
  onNotificationClosed?: (notificationId: string) => void
}

/** Time for an answer of the service, milliseconds. */
const ANSWER_MS = 10_000
/** Time between two connections to the events, milliseconds. */
const AGAIN_MS = 1_000

/**
 * Claims what a person is to be told and hands it over, until the signal aborts: what is open when a connection begins, then what the
 * events tell.
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

  /** Shows a notification unless somebody else does. */
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
      // What was announced before this connection.
      const { notifications } = await ask<{ notifications: Array<Notification & { needsShowing: boolean }> }>('/notifications')
      for (const notification of notifications) if (notification.needsShowing) await show(notification)
      await lines
    } catch {
      // The next connection reads what was missed.
    } finally {
      over.abort()
    }
    await sleep(AGAIN_MS, undefined, { signal }).catch(() => {})
  }
}

/** Returns an event of the service; undefined for a line that was cut, as by the end of the service. */
function eventIn (json: string): Notification & { type: string } | undefined {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
