import type { NotificationList, NotificationView, Shown } from '../../schemas/notifications.ts'
import type { StreamEvent } from '../../schemas/events.ts'
import { type Approval, isUnanswered } from '../contracts/approval-record.ts'
import type { Clock } from '../lib/clock.ts'
import { newId } from '../lib/ids.ts'
import { createKeyedLock } from '../lib/keyed-lock.ts'
import { defineError } from '../lib/service-error.ts'
import { nameOfTask } from '../lib/short-name.ts'
import {
  NOTIFICATIONS,
  notificationKey,
  type Op,
  OPEN_APPROVALS,
  openApprovalKey,
  type Store,
  taskKey,
  TASKS,
  threadKey,
  THREADS,
  unlessDamaged
} from '../store/index.ts'
import {
  isSaidOnce,
  type NewNotification,
  notificationView,
  type SayCall,
  shortened,
  type StoredNotification,
  wordsOf
} from './notification-record.ts'

const NotificationNotFound = defineError('ERR_NOTIFICATION_NOT_FOUND', 'There is no notification "%s": it was over more than a week ago.')

/** How long closed notifications are stored; milliseconds. */
const CLOSED_MS = 7 * 24 * 60 * 60 * 1000
/** The most notifications that are stored. The oldest are removed first, closed ones before open ones. */
const MOST_KEPT = 500

/** The part of a task record from which the name of the task is made. */
type NamedTask = Parameters<typeof nameOfTask>[0]

/** Returns the time after which none of the items waits any more; {} if one of them does not expire. */
function untilOf (items: readonly Approval[]): { until?: number } {
  const until = Math.max(...items.map(({ expiresAt = Infinity }) => expiresAt))
  return until === Infinity ? {} : { until }
}

export type Notifications = ReturnType<typeof createNotifications>

/**
 * Creates the service for notifications, which inform a person of an event. A notification is stored in the
 * transaction of its cause, where there is one. The service sees it when the store has committed the transaction, and
 * only then announces it. A notification about approvals is over when the ledger no longer lists them as open. Its
 * closing need not be stored, because a start reads the open approvals. Call `load` before anything else is written.
 */
export function createNotifications ({ store, clock, emit, isRead, say }: {
  store: Store,
  clock: Clock,
  emit: (event: StreamEvent) => void,
  /** True if a client reads this run of a conversation now, so that its user sees the questions of the run anyway. */
  isRead: (runId: string) => boolean
  say: SayCall
}) {
  const locked = createKeyedLock()
  /** All notifications in their present state, oldest first. */
  const kept = new Map<string, StoredNotification>()
  /** Ids of notifications whose closing is not stored yet. */
  const unsaved = new Set<string>()
  /** Ids of the items of the ledger that still wait and that an open notification is about. */
  const waiting = new Set<string>()
  const listeners = new Set<() => void>()
  const changed = () => {
    for (const listener of listeners) listener()
  }

  const open = () => [...kept.values()].filter(({ closedAt }) => closedAt === undefined)
  /** Returns the number of open subjects: each waiting approval counts, and each other open notification. */
  const count = () =>
    open().reduce((sum, { waitsFor }) => sum + (waitsFor?.filter(({ approvalId }) => waiting.has(approvalId)).length ?? 1), 0)
  const isKnown = (key: string) =>
    [...kept.values()].some((each) => each.key === key && (each.closedAt === undefined || isSaidOnce(each)))

  /** Returns the operation that stores a new notification; `opened` follows when it is committed. */
  function create (fields: Omit<StoredNotification, 'notificationId' | 'createdAt' | 'showings'>): Op {
    const createdAt = clock.now()
    const value: StoredNotification = { notificationId: newId(), ...fields, createdAt, showings: [{ at: createdAt, deliveries: [] }] }
    return { type: 'put', key: notificationKey(value.notificationId), value }
  }

  function opsOf ({ text, ...notification }: NewNotification): Op[] {
    if (isKnown(notification.key)) return []
    const words = shortened(text)
    return [create({ ...notification, ...(words !== undefined && { text: words }) })]
  }

  async function nameOf (taskId: string | undefined): Promise<string | undefined> {
    const task = taskId === undefined ? undefined : await unlessDamaged(store.get<NamedTask>(taskKey(taskId)))
    return task && nameOfTask(task)
  }

  function announce (notification: StoredNotification, name: string | undefined) {
    const { needsShowing, shownAt, deliveries, closedAt, ...shown } = notificationView(notification, name)
    emit({ type: 'notification', ...shown, count: count(), at: clock.now() })
  }

  /** Reads the name of the task of a notification, then announces the notification, unless it is closed by then. */
  async function announceLater (notificationId: string) {
    const name = await nameOf(kept.get(notificationId)?.taskId).catch(() => undefined)
    const now = kept.get(notificationId)
    if (now !== undefined && now.closedAt === undefined) announce(now, name)
  }

  /**
   * Closes a notification in memory. The closing is stored with the next write of the notification. After a crash,
   * the next start closes it again.
   */
  function closeNow (notification: StoredNotification) {
    const { notificationId, waitsFor = [], taskId, threadId } = notification
    if (kept.get(notificationId)?.closedAt !== undefined) return
    kept.set(notificationId, { ...kept.get(notificationId)!, closedAt: clock.now() })
    unsaved.add(notificationId)
    for (const { approvalId } of waitsFor) waiting.delete(approvalId)
    const owner = taskId === undefined ? threadId !== undefined && { threadId } : { taskId }
    emit({ type: 'notification:closed', notificationId, ...owner, count: count(), at: clock.now() })
    changed()
  }

  function opened (notification: StoredNotification, name: string | undefined) {
    const { notificationId, waitsFor = [], closes, taskId } = notification
    kept.set(notificationId, notification)
    for (const { approvalId } of waitsFor) waiting.add(approvalId)
    for (const before of open()) if (before.key === closes && before.notificationId !== notificationId) closeNow(before)
    if (taskId === undefined || name !== undefined) announce(notification, name)
    else void announceLater(notificationId)
    if (kept.size > MOST_KEPT) void trim().catch(() => {})
    changed()
  }

  /** Returns the name of a task from the operations of a transaction that stores the task; undefined for none. */
  function nameIn (ops: readonly Op[], taskId: string | undefined): string | undefined {
    const op = taskId === undefined ? undefined : ops.find(({ type, key }) => type === 'put' && key === taskKey(taskId))
    const task = op?.type === 'put' ? op.value as NamedTask : undefined
    return task && nameOfTask(task)
  }

  store.onCommit((ops) => {
    for (const op of ops) {
      if (op.key.startsWith(NOTIFICATIONS)) {
        const id = op.key.slice(NOTIFICATIONS.length)
        const known = kept.get(id)
        if (op.type === 'del') {
          kept.delete(id)
          unsaved.delete(id)
        } else if (known === undefined) {
          const created = op.value as StoredNotification
          // Two transactions at the same moment can open notifications with the same key: the first one stands.
          if (isKnown(created.key)) void remove([created]).catch(() => {})
          else opened(created, nameIn(ops, created.taskId))
        } else {
          if ((op.value as StoredNotification).closedAt !== undefined) closeNow(known)
          // The notification might have been closed in memory during the write.
          const { closedAt } = kept.get(id)!
          kept.set(id, { ...op.value as StoredNotification, ...(closedAt !== undefined && { closedAt }) })
        }
      } else if (op.type === 'del' && op.key.startsWith(OPEN_APPROVALS)) {
        settled(op.key.slice(OPEN_APPROVALS.length))
      } else if (op.type === 'del' && (op.key.startsWith(TASKS) || op.key.startsWith(THREADS))) {
        const gone = [...kept.values()].filter((each) => ownerKey(each) === op.key)
        for (const each of gone) closeNow(each)
        // If the service crashes before that, `sweep` removes them.
        if (gone.length > 0) void remove(gone).catch(() => {})
      }
    }
  })

  /** Closes the notifications all of whose items have been answered, now that this item of the ledger no longer waits. */
  function settled (approvalId: string) {
    if (!waiting.delete(approvalId)) return
    for (const each of open()) {
      const { waitsFor } = each
      if (waitsFor?.some((item) => item.approvalId === approvalId) && !waitsFor.some((item) => waiting.has(item.approvalId))) closeNow(each)
    }
  }

  /** Stores the notification that `change` returns; undefined stores nothing. Resolves when the change is durable. */
  const update = (id: string, change: (notification: StoredNotification) => StoredNotification | undefined): Promise<void> =>
    locked(id, async () => {
      const known = kept.get(id)
      const next = known && change(structuredClone(known))
      if (next === undefined) return
      await store.transact([{ type: 'put', key: notificationKey(id), value: next }])
      if (next.closedAt !== undefined) unsaved.delete(id)
    })

  /** Stores the closings that are not stored yet. */
  async function save () {
    for (const id of unsaved) await update(id, (notification) => notification)
  }

  const remove = (gone: StoredNotification[]) =>
    store.transact(gone.map(({ notificationId }) => ({ type: 'del', key: notificationKey(notificationId) })))

  /** Returns the store key of the task or conversation that the notification is about; undefined for none. */
  function ownerKey ({ taskId, threadId }: StoredNotification): string | undefined {
    if (taskId !== undefined) return taskKey(taskId)
    return threadId === undefined ? undefined : threadKey(store.digest(threadId))
  }

  /** Removes the oldest notifications if there are more than MOST_KEPT. */
  async function trim () {
    const all = [...kept.values()]
    const byUse = [...all.filter(({ closedAt }) => closedAt !== undefined), ...open()]
    const excess = byUse.slice(0, Math.max(all.length - MOST_KEPT, 0))
    for (const each of excess) closeNow(each)
    if (excess.length > 0) await remove(excess)
  }

  return {
    update,
    open,
    count,
    announceLater,
    closeNow,
    save,

    /** Registers a listener that is called when a notification was opened, closed or shown. */
    onChange: (listener: () => void): void => void listeners.add(listener),

    /** Reads the stored notifications, and closes those whose cause is over by now. */
    async load (): Promise<void> {
      const items = new Map<string, boolean>()
      for await (const [key, value] of store.list<StoredNotification>(NOTIFICATIONS, { damaged () {} })) {
        kept.set(key.slice(NOTIFICATIONS.length), value)
      }
      const all = [...kept.values()]
      for (const each of all) {
        for (const { approvalId } of each.closedAt === undefined ? each.waitsFor ?? [] : []) {
          const entry = await store.get<{ live?: true }>(openApprovalKey(approvalId))
          items.set(approvalId, entry !== undefined)
          if (entry !== undefined) waiting.add(approvalId)
        }
      }
      for (const each of all) {
        if (each.closedAt !== undefined) continue
        const isOver = each.waitsFor === undefined
          ? all.some((later) => later.closes === each.key && later.createdAt >= each.createdAt)
          // The calls that asked live questions have ended with their process.
          : each.isLive || !each.waitsFor.some(({ approvalId }) => items.get(approvalId))
        if (isOver) closeNow(each)
      }
    },

    /**
     * Returns the operations that open notifications about new items of the ledger, for the transaction that stores the
     * items. Several items of one run get one notification. Items of a conversation whose run a client reads now get none.
     */
    asked (given: readonly Approval[]): Op[] {
      const fresh = given.filter((item) => item.kind !== 'app' && isUnanswered(item) && !waiting.has(item.approvalId))
      const byRun = new Map<string, Approval[]>()
      for (const item of fresh) {
        // A choice about a task belongs to no run.
        const { runId = item.approvalId } = item
        if (item.threadId === undefined || !isRead(runId)) byRun.set(runId, [...byRun.get(runId) ?? [], item])
      }
      return [...byRun.values()].map((items) => {
        const [{ approvalId, taskId, threadId, runId }] = items
        const words = shortened(items.flatMap((item) => wordsOf(item, say) ?? []).join(', '))
        return create({
          kind: 'waiting',
          key: `waiting/${approvalId}`,
          ...(taskId === undefined ? { threadId } : { taskId }),
          ...(runId !== undefined && { runId }),
          waitsFor: items.map(({ approvalId, kind }) => ({ approvalId, kind })),
          ...(words !== undefined && { text: words }),
          ...untilOf(items),
          ...(items.some((item) => item.kind === 'question' && item.live) && { isLive: true as const })
        })
      })
    },

    /** Returns the operations that open a notification, for the transaction of its cause; [] if its key is already in use. */
    ops: opsOf,

    /** Returns the stored notifications of kind `told` of a task. */
    toldBy: (taskId: string) => [...kept.values()].filter((each) => each.kind === 'told' && each.taskId === taskId),

    /** Returns the operations that close the notification with this key, for the transaction that ends its cause. */
    closing (key: string): Op[] {
      const ended = open().filter((notification) => notification.key === key)
      return ended.map((each) => ({ type: 'put', key: notificationKey(each.notificationId), value: { ...each, closedAt: clock.now() } }))
    },

    /** Opens a notification unless its key is already in use. Resolves when the notification is durable. */
    notify: (notification: NewNotification): Promise<void> =>
      locked(`key ${notification.key}`, async () => {
        const ops = opsOf(notification)
        if (ops.length > 0) await store.transact(ops)
      }),

    /** Closes the notification with this key. Resolves when the closing is durable. */
    async close (key: string): Promise<void> {
      for (const each of open().filter((notification) => notification.key === key)) {
        closeNow(each)
        await update(each.notificationId, (notification) => notification)
      }
    },

    /**
     * Claims a notification for a client that is about to show it. Only the first client gets `first: true` and shows the
     * notification; a notification that was claimed before, or is closed, is not shown again. Throws NotificationNotFound (404).
     */
    async shown (notificationId: string): Promise<Shown> {
      if (!kept.has(notificationId)) throw new NotificationNotFound(notificationId)
      let first = false
      await update(notificationId, (notification) => {
        const showing = notification.showings.at(-1)!
        if (notification.closedAt !== undefined || showing.shownAt !== undefined) return undefined
        first = true
        showing.shownAt = clock.now()
        return notification
      })
      const now = kept.get(notificationId)
      if (first && now !== undefined && isSaidOnce(now)) closeNow(now)
      if (first) changed()
      const { shownAt, closedAt } = now === undefined ? {} as Partial<NotificationView> : notificationView(kept.get(notificationId) ?? now)
      return { notificationId, first, ...(shownAt !== undefined && { shownAt }), ...(closedAt !== undefined && { closedAt }) }
    },

    /** Returns the public form of a notification, with the name of its task. */
    view: async (notification: StoredNotification) => notificationView(notification, await nameOf(notification.taskId)),

    /** Lists the open notifications, or those that closed within a week, newest first. */
    async list ({ state }: { state: 'open' | 'closed' }): Promise<NotificationList> {
      const wanted = [...kept.values()].filter(({ closedAt }) => (closedAt === undefined) === (state === 'open')).reverse()
      return { notifications: await Promise.all(wanted.map((each) => this.view(each))), count: count() }
    },

    /** Removes notifications that closed more than CLOSED_MS ago, and those of tasks and conversations that no longer exist. */
    async sweep (): Promise<void> {
      await save()
      const limit = clock.now() - CLOSED_MS
      const gone: StoredNotification[] = []
      for (const each of kept.values()) {
        const owner = ownerKey(each)
        // A damaged record of the owner still counts as existing.
        const isGone = owner !== undefined && await store.get(owner).then((value) => value === undefined, () => false)
        if (isGone || (each.closedAt ?? Infinity) <= limit) gone.push(each)
      }
      if (gone.length > 0) await remove(gone)
      await trim()
    }
  }
}
