import type { NotificationKind, NotificationView } from '../../schemas/notifications.ts'
import type { Approval } from '../contracts/approval-record.ts'

/** One attempt to deliver a showing to the webhook. */
export interface Delivery {
  at: number
  ok: boolean
  /** The HTTP status of the answer, if there was one. */
  status?: number
  error?: string
}

/** One showing of a notification: the notification itself or its reminder. Times are milliseconds since the Unix epoch. */
interface Showing {
  at: number
  /** When a client said that it shows the notification. */
  shownAt?: number
  deliveries: Delivery[]
  /** The time of the next delivery after a failed one; absent after the last. */
  nextTryAt?: number
}

/** An item of the ledger that waits for a person. */
export interface Waiting {
  approvalId: string
  kind: Approval['kind']
}

/** A notification as it is stored. */
export interface StoredNotification {
  notificationId: string
  /** Identifies the subject of the notification. At most one open notification has the same key. */
  key: string
  kind: NotificationKind
  taskId?: string
  threadId?: string
  runId?: string
  /** The name of the provider that needs a key, credit or another model. */
  provider?: string
  /** Kind `waiting` only: the items of the ledger that waited when the notification was opened. */
  waitsFor?: Waiting[]
  /** Kind `waiting` only: the question belongs to a call that is still executing, and ends with the process of the service. */
  isLive?: true
  /** A text from the task or its model, which leaves the computer only if the user allows it. */
  text?: string
  createdAt: number
  /** When the notification closes by itself; milliseconds since the Unix epoch. */
  until?: number
  /** The key of an earlier notification that this one closes. */
  closes?: string
  /** The showing of the notification itself, and that of its reminder. */
  showings: [Showing, Showing?]
  closedAt?: number
}

/**
 * A notification to open. It is ignored while a notification with the same key is open or, for a kind that is
 * said once, is still stored. Its text is shortened.
 */
export type NewNotification =
  & { kind: Exclude<NotificationKind, 'waiting'> }
  & Pick<StoredNotification, 'key' | 'taskId' | 'threadId' | 'runId' | 'provider' | 'text' | 'until' | 'closes'>

/** True for kinds that are closed as soon as somebody has seen them, and that get no reminder. */
export const isSaidOnce = ({ kind }: Pick<StoredNotification, 'kind'>): boolean => ['recovered', 'told', 'boxed'].includes(kind)

/** The most characters that are stored of a text. */
const TEXT_KEPT = 500

export const shortened = (text: string | undefined, length = TEXT_KEPT): string | undefined => {
  const line = text?.replace(/\s+/g, ' ').trim()
  return line === undefined || line.length <= length ? line || undefined : `${line.slice(0, length)}…`
}

/** Returns the title of a notification, which contains no text of a task, a person or a model. */
function titleOf ({ kind, taskId, provider, waitsFor = [] }: StoredNotification): string {
  switch (kind) {
    case 'waiting': {
      const owner = taskId === undefined ? 'A conversation' : 'A task'
      const of = (wanted: Waiting['kind']) => waitsFor.filter((item) => item.kind === wanted).length
      const [calls, results, questions] = [of('tool'), of('result'), of('question') + of('task')]
      const asks = [
        ...calls > 0 ? [`for the approval of ${calls === 1 ? 'a call' : `${calls} calls`}`] : [],
        ...results > 0 ? ['for your word on its result'] : [],
        ...questions > 0 ? ['for your answer'] : []
      ]
      return `${owner} waits ${asks.join(' and ') || 'for you'}`
    }
    case 'failing':
      return 'A task fails again and again'
    case 'recovered':
      return 'A task that was failing is well again'
    case 'budget':
      return 'A budget is used up, and work waits'
    case 'provider':
      return provider === undefined ? 'A model provider needs your attention' : `The model provider ${provider} needs your attention`
    case 'told':
      return 'A task has something to tell you'
    case 'boxed':
      return 'Files that programs obey got another name after a command'
  }
}

/** Returns the public form of a notification. `name` is the name of its task. */
export function notificationView (notification: StoredNotification, name?: string): NotificationView {
  const { notificationId, kind, taskId, threadId, runId, provider, waitsFor, createdAt, closedAt, showings } = notification
  const text = textOf(notification, name)
  const shown = showings.findLast((showing) => showing?.shownAt !== undefined)
  return {
    notificationId,
    kind,
    ...(taskId !== undefined && { taskId }),
    ...(threadId !== undefined && { threadId }),
    ...(runId !== undefined && { runId }),
    ...(provider !== undefined && { provider }),
    ...(waitsFor !== undefined && { waitsFor }),
    title: titleOf(notification),
    ...(text !== undefined && { text }),
    createdAt,
    reminder: showings.length > 1,
    ...(shown !== undefined && { shownAt: shown.shownAt }),
    needsShowing: closedAt === undefined && showings.at(-1)!.shownAt === undefined,
    deliveries: showings.flatMap((showing, at) =>
      (showing?.deliveries ?? []).map((delivery) => ({ ...delivery, reminder: at > 0 }))
    ),
    ...(closedAt !== undefined && { closedAt })
  }
}

/** Returns the text of a notification with the name of its task before it. */
function textOf ({ text }: Pick<StoredNotification, 'text'>, name?: string): string | undefined {
  if (name === undefined) return text
  return text === undefined ? name : `${name}: ${text}`
}

/** Describes a tool call in words for the user. */
export type SayCall = (call: { toolName: string, input: unknown }) => string

/** Returns the text that describes a waiting item; undefined for a call of the application. */
export function wordsOf (item: Approval, say: SayCall): string | undefined {
  switch (item.kind) {
    case 'tool':
      return say(item)
    case 'result':
      return item.output
    case 'question':
      return item.questions.map(({ text }) => text).join(' ')
    case 'task':
      return item.text
    case 'app':
      return undefined
  }
}
