import type { Clock } from '../lib/clock.ts'
import { createSemaphore } from '../lib/semaphore.ts'
import { isSaidOnce, notificationView, type StoredNotification } from './notification-record.ts'
import type { Notifications } from './notifications.ts'
import { type createWebhook, RETRY_AFTER_MS, type WebhookSettings } from './webhook.ts'

/** How long a desktop shell or a page may take to claim a notification (`shown`) before the webhook gets it; milliseconds. */
const SHOWN_WITHIN_MS = 5_000
/** How long after a notification its reminder follows; milliseconds. */
const REMIND_AFTER_MS = 24 * 60 * 60 * 1000
/** The longest sleep, so that a change of the system clock is noticed; milliseconds. */
const LONGEST_SLEEP_MS = 60 * 60 * 1000
/** How long a notification is left alone after an internal failure, such as a full disk; milliseconds. */
const REST_MS = 60_000
/** The most deliveries at once. */
const MOST_DELIVERIES = 4

/**
 * Creates the courier: it posts notifications that nobody has claimed to the webhook, sends one reminder, and
 * closes notifications whose time is over.
 */
export function createCourier ({ notifications, clock, webhook, deliver, log }: {
  notifications: Notifications
  clock: Clock
  /** Returns the configured webhook; undefined if there is none. */
  webhook: () => WebhookSettings | undefined
  deliver: ReturnType<typeof createWebhook>
  log: { warn(details: object, message: string): void }
}) {
  const sending = createSemaphore({ limit: MOST_DELIVERIES, maxQueued: Infinity, busy: () => new Error('busy') })
  /** Ids of notifications that are being processed. */
  const busy = new Set<string>()
  let startedAt = 0
  let nudge = new AbortController()
  const wake = () => nudge.abort('changed')
  notifications.onChange(wake)

  /** Returns when the newest showing is due for the webhook, milliseconds since the Unix epoch; Infinity for never. */
  function deliveryDue ({ showings }: StoredNotification): number {
    const showing = showings.at(-1)!
    if (webhook() === undefined || showing.shownAt !== undefined || showing.deliveries.some(({ ok }) => ok)) return Infinity
    if (showing.deliveries.length > 0) return showing.nextTryAt ?? Infinity
    return Math.max(showing.at, startedAt) + SHOWN_WITHIN_MS
  }
  const reminderDue = (notification: StoredNotification): number =>
    isSaidOnce(notification) || notification.showings.length > 1 ? Infinity : notification.createdAt + REMIND_AFTER_MS

  async function remind ({ notificationId }: StoredNotification) {
    await notifications.update(notificationId, (notification) => {
      if (notification.closedAt !== undefined || notification.showings.length > 1) return undefined
      const { nextTryAt, ...first } = notification.showings[0]
      return { ...notification, showings: [first, { at: clock.now(), deliveries: [] }] }
    })
    await notifications.announceLater(notificationId)
  }

  async function send ({ notificationId, showings }: StoredNotification, signal: AbortSignal) {
    const at = showings.length - 1
    const settings = webhook()
    const now = notifications.open().find((each) => each.notificationId === notificationId)
    if (settings === undefined || now === undefined || deliveryDue(now) > clock.now()) return
    const isReminder = at > 0
    // The receiver detects repeated deliveries of a message by its id.
    const id = isReminder ? `${notificationId}-reminder` : notificationId
    const delivery = await deliver(settings, { id, body: await bodyOf(now, settings) }, signal)
    if (signal.aborted) return
    await notifications.update(notificationId, (notification) => {
      const showing = notification.showings[at]
      if (showing === undefined) return undefined
      showing.deliveries.push(delivery)
      const wait = RETRY_AFTER_MS[showing.deliveries.length - 1]
      if (delivery.ok || wait === undefined) delete showing.nextTryAt
      else showing.nextTryAt = clock.now() + wait
      return notification
    })
    if (!delivery.ok) return log.warn({ notificationId, error: delivery.error }, 'the webhook did not take a notification')
    const delivered = notifications.open().find((each) => each.notificationId === notificationId)
    if (delivered !== undefined && isSaidOnce(delivered)) notifications.closeNow(delivered)
  }

  /** Returns the body of a webhook message. It contains texts of tasks and models only if the configuration allows that. */
  async function bodyOf (notification: StoredNotification, { text: withText }: WebhookSettings): Promise<string> {
    const { text, needsShowing, shownAt, deliveries, closedAt, ...data } = withText
      ? await notifications.view(notification)
      : notificationView(notification)
    const at = new Date(notification.showings.at(-1)!.at).toISOString()
    const shown = withText && text !== undefined && { text }
    return JSON.stringify({ type: 'notification', timestamp: at, data: { ...data, ...shown, count: notifications.count() } })
  }

  /** Does what is due for a notification: closes it, sends its reminder, or posts it to the webhook. */
  async function act (notification: StoredNotification, signal: AbortSignal) {
    const now = clock.now()
    if ((notification.until ?? Infinity) <= now) return notifications.closeNow(notification)
    if (reminderDue(notification) <= now) return remind(notification)
    return sending.run(signal, () => send(notification, signal))
  }

  const dueOf = (notification: StoredNotification): number =>
    busy.has(notification.notificationId)
      ? Infinity
      : Math.min(notification.until ?? Infinity, reminderDue(notification), deliveryDue(notification))

  function start (notification: StoredNotification, signal: AbortSignal) {
    const { notificationId } = notification
    busy.add(notificationId)
    act(notification, signal).catch(async (error) => {
      if (signal.aborted) return
      log.warn({ err: error, notificationId }, 'a notification could not be brought on its way; trying again in a minute')
      await clock.sleep(REST_MS, signal).catch(() => {})
    }).finally(() => {
      busy.delete(notificationId)
      wake()
    })
  }

  return {
    /** Checks at once what is due. Call it when the configuration has changed. */
    wake,

    /** Processes due notifications until the signal aborts. */
    async run (signal: AbortSignal): Promise<void> {
      startedAt = clock.now()
      signal.addEventListener('abort', wake, { once: true })
      while (!signal.aborted) {
        nudge = new AbortController()
        const nudged = nudge.signal
        const now = clock.now()
        let next = Infinity
        for (const notification of notifications.open()) {
          const due = dueOf(notification)
          if (due <= now) start(notification, signal)
          else next = Math.min(next, due)
        }
        if (nudged.aborted) continue
        if (next < Infinity) await clock.sleep(Math.min(next - now, LONGEST_SLEEP_MS), nudged).catch(() => {})
        else await new Promise((resolve) => nudged.addEventListener('abort', resolve, { once: true }))
      }
    }
  }
}
