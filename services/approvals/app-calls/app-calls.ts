import type { AnsweredToolCall, ToolCallAnswer, ToolCallList, ToolCallQuery, ToolCallView } from '../../../schemas/tool-calls.ts'
import { takePage } from '../../lib/pages.ts'
import type { Clock } from '../../lib/clock.ts'
import { type Approval, isUnanswered } from '../../contracts/approval-record.ts'
import { isDamage, OPEN_APPROVALS, type Store } from '../../store/index.ts'
import { storedIn } from '../announce-approvals.ts'
import type { ItemOwner, Ledger } from '../ledger.ts'
import { type AppCall, type AppCallAnswer, BadToolCallAnswer } from './call-ledger.ts'

/** The longest time between two checks of the clock, so that sleep of the machine is noticed; milliseconds. */
const CHECK_MS = 10_000
/** The longest time between two checks while no call is open, milliseconds. A new call ends the wait. */
const IDLE_CHECK_MS = 3_600_000
/** The time after which the service tries again to close a call, after a failure, milliseconds. */
const RETRY_MS = 1_000

export type AppCalls = ReturnType<typeof createAppCalls>

/**
 * The calls that applications execute. Lists the open calls, takes claims (an instance executes the call now) and results from
 * applications, and closes overdue calls.
 */
export function createAppCalls ({ ledger, store, clock, agent, tasks, log }: {
  ledger: Pick<Ledger, 'requireCall' | 'readOpen' | 'isOpen'>,
  store: Pick<Store, 'onCommit'>,
  clock: Clock,
  agent: ItemOwner,
  tasks: ItemOwner,
  log: { error(details: object, message: string): void }
}) {
  /** The times at which open calls become overdue, by the ids of the calls; milliseconds since the Unix epoch. */
  const times = new Map<string, number>()
  let wake = new AbortController()

  function follow (item: Approval | undefined): void {
    if (item?.kind !== 'app') return
    if (isUnanswered(item)) times.set(item.approvalId, item.claim?.until ?? item.expiresAt)
    else times.delete(item.approvalId)
    wake.abort()
  }
  store.onCommit((ops) => {
    for (const { key } of ops) if (key.startsWith(OPEN_APPROVALS)) follow(storedIn(ops, key.slice(OPEN_APPROVALS.length)))
  })

  const ownerOf = ({ threadId, taskId }: AppCall): [ItemOwner, string] => taskId === undefined ? [agent, threadId!] : [tasks, taskId]

  /**
   * Closes an overdue call. Its run continues, and the model learns that the call is overdue. If closing fails, it is tried again later.
   */
  async function close (callId: string): Promise<void> {
    times.delete(callId)
    try {
      const call = await ledger.requireCall(callId)
      const [owner, id] = ownerOf(call)
      await owner.closeCall(id, callId)
    } catch (error) {
      const { code = '' } = error as { code?: string }
      if (isDamage(error) || GONE.includes(code)) return
      log.error({ err: error, toolCallId: callId }, 'a call of an application is overdue and could not be closed; trying again')
      times.set(callId, clock.now() + RETRY_MS)
    }
  }

  return {
    /** Lists the open calls, oldest first, one page at a time. */
    async list ({ limit, cursor, ...filter }: ToolCallQuery): Promise<ToolCallList> {
      const { page: toolCalls, ...more } = await takePage(ledger.readOpen({ after: cursor, kind: 'app' }), {
        limit,
        pick: (call) => ledger.isOpen(call) && matches(call, filter) ? callView(call) : undefined,
        cursorOf: ({ toolCallId }) => toolCallId
      })
      return { toolCalls, ...more }
    },

    /**
     * Claims a call, renews a claim, or takes the result of a call. Throws BadToolCallAnswer (400), AppCallNotFound (404),
     * AppCallNotApproved (409) and the errors of `answerAppCall` (409, 410, 413).
     */
    async answer (callId: string, body: ToolCallAnswer): Promise<AnsweredToolCall> {
      const [owner, id] = ownerOf(await ledger.requireCall(callId))
      const { item, continued } = await owner.answerItem(id, { approvalId: callId, ...answerOf(body) })
      return { ...callView(item as AppCall), continued }
    },

    /**
     * Until the signal aborts, closes calls when they become overdue, including those that became overdue while the service did not run.
     */
    async run (signal: AbortSignal): Promise<void> {
      for await (const call of ledger.readOpen({ kind: 'app' })) follow(call)
      while (!signal.aborted) {
        const now = clock.now()
        for (const [callId, at] of times) if (at <= now && !signal.aborted) await close(callId)
        wake = new AbortController()
        const next = Math.min(...times.values(), clock.now() + (times.size === 0 ? IDLE_CHECK_MS : CHECK_MS))
        const wait = next - clock.now()
        if (wait > 0) await clock.sleep(wait, AbortSignal.any([signal, wake.signal])).catch(() => {})
      }
    }
  }
}

/** The codes of errors that mean that the call needs no closing. */
const GONE = ['ERR_TOOL_CALL_NOT_FOUND', 'ERR_TASK_NOT_FOUND', 'ERR_RUN_NOT_FOUND', 'ERR_RUN_GONE', 'ERR_CONVERSATION_MOVED_ON']

function answerOf ({ claim, output, error }: ToolCallAnswer): AppCallAnswer {
  if (output !== undefined && error !== undefined) throw new BadToolCallAnswer('Give either "output" or "error".')
  if (output !== undefined) return { claim, result: { output } }
  if (error !== undefined) return { claim, result: { errorText: error } }
  if (claim === undefined) throw new BadToolCallAnswer('The body needs "claim", "output" or "error".')
  return { claim }
}

const matches = (call: AppCall, filter: Omit<ToolCallQuery, 'limit' | 'cursor'>): boolean =>
  (['state', 'app', 'threadId', 'taskId'] as const).every((field) => filter[field] === undefined || call[field] === filter[field])

/** Returns the public form of a call, without the internal fields. */
function callView ({ approvalId, kind, segment, digest, output, isWrapped, errorText, ...call }: AppCall): ToolCallView {
  return call
}
