import type { EventOf, RunEvent } from '../run-log/run-events.ts'
import { intentsIn } from '../run-log/open-calls.ts'
import type { ToolHost } from '../tools/host.ts'
import { runInOrder } from '../tools/run-in-order.ts'
import { OUTCOME_UNKNOWN } from '../tools/tool-errors.ts'
import { askedAgain, folderGone, type WorkFolder } from '../tools/work-folder.ts'

/** A call whose tool exists and whose input is valid. */
export interface Call {
  toolCallId: string
  toolName: string
  input: unknown
}

/** What the ledger knows of a call that needed an approval. */
export interface CallApproval {
  approvalId: string
  /** `begun`: the tool was started before; `expired`: nobody answered in time. */
  state: 'open' | 'approved' | 'begun' | 'denied' | 'expired'
  /** The identity of the approved tool. Another tool with the same name is not executed. */
  identity?: string
  /** The folder that was shown. Requests of earlier versions lack it. */
  folder?: WorkFolder
  /** The reason of a denial, for the model. */
  reason?: string
}

/** A call that needs an approval, with the folder it would work in and, if it is asked again, the reason for the user. */
export interface AskedCall extends Call {
  folder: WorkFolder
  reason?: string
}

/** The end of a call: its event, and what becomes of its approval, if it has one. */
export interface CallEnd {
  event: EventOf<'tool-output' | 'tool-error' | 'tool-denied'>
  state: 'done' | 'unknown' | 'denied' | 'expired'
  /** The duration of the call, milliseconds; absent if no tool ran. */
  durationMs?: number
}

/** What the calls of a step need of the run that they belong to. */
export interface CallPorts {
  tools: Pick<ToolHost, 'find' | 'identity' | 'execute' | 'folders'>
  run: { runId: string, attempt: number, cwd: string, signal: AbortSignal }
  /** The events of the run so far. */
  events: readonly RunEvent[]
  /** Whether a read that was interrupted is repeated when the run continues; otherwise it ends with an unknown outcome. */
  repeatsReads: boolean
  approvalOf: (toolCallId: string) => CallApproval | undefined
  /** Whether a call of the tool needs an approval now. */
  needsApproval: (toolName: string) => boolean
  /** Whether the user denied the same call (same tool, same input) before. */
  wasDenied: (call: Call) => boolean
  /** Throws when the outputs of the run have reached their limit. */
  checkLimit: () => void
  /** Called before a tool starts. With `isDurable`, an intent must be on disk when the promise resolves. */
  begin: (call: Call, isDurable: boolean) => Promise<void>
  /** Stores the end of a call before readers see it. */
  end: (call: Call, end: CallEnd) => Promise<void>
}

const REFUSED_BEFORE = 'The user denied this very call earlier in the conversation.'
const UNANSWERED = 'Nobody answered in time.'

/**
 * Settles the open calls of a step and returns those that need an approval. No call runs while a question about one of them
 * is open. A call that was begun before has an unknown outcome and never runs again; a denied call is refused, also when the
 * model repeats it. The other calls run, reads side by side and the rest in order; before a tool that may change something, or
 * that was approved, starts, an intent is on disk. A call whose tool was changed meanwhile asks. An approved call whose folder
 * is no longer the one that was shown asks again, and approved calls behind it wait for that answer. Rejects when the run is
 * aborted.
 */
export async function settleCalls (calls: readonly Call[], ports: CallPorts): Promise<{ asked: AskedCall[], isWaiting: boolean }> {
  const { tools, run: { runId, attempt, cwd, signal } } = ports
  const asked = new Map<string, AskedCall>()
  const begun = intentsIn(ports.events)
  let isHeld = false
  const isRead = ({ toolName }: Call) => tools.find(toolName)?.effect === 'read'
  const failed = ({ toolCallId, toolName }: Call, errorText: string, state: CallEnd['state'] = 'done'): CallEnd =>
    ({ event: { type: 'tool-error', toolCallId, toolName, errorText }, state })
  const refused = ({ toolCallId, toolName }: Call, state: CallEnd['state'], reason: string, approvalId?: string): CallEnd =>
    ({ event: { type: 'tool-denied', toolCallId, toolName, reason, ...(approvalId !== undefined && { approvalId }) }, state })

  /** Decides about a call before any call runs. */
  function decide (call: Call): 'run' | 'ask' | 'wait' | CallEnd {
    const approval = ports.approvalOf(call.toolCallId)
    if (begun.has(call.toolCallId)) return failed(call, OUTCOME_UNKNOWN, 'unknown')
    switch (approval?.state) {
      case undefined:
        return ports.needsApproval(call.toolName) ? 'ask' : 'run'
      case 'approved':
        return 'run'
      case 'open':
        return 'wait'
      case 'begun':
        return failed(call, OUTCOME_UNKNOWN, 'unknown')
      case 'denied':
        return refused(call, 'denied', approval?.reason ?? REFUSED_BEFORE, approval?.approvalId)
      case 'expired':
        return refused(call, 'expired', UNANSWERED)
    }
  }

  /** Adds the call to those that need an approval, with the folder that is shown with the question. */
  async function ask (call: Call): Promise<void> {
    if (ports.wasDenied(call)) return ports.end(call, refused(call, 'denied', REFUSED_BEFORE))
    const folder = await tools.folders.of(call.toolName, call.input, cwd)
    if (folder === undefined) return ports.end(call, failed(call, folderGone(cwd)))
    asked.set(call.toolCallId, { ...call, folder })
  }

  async function execute (call: Call): Promise<void> {
    const { toolCallId, toolName, input } = call
    ports.checkLimit()
    const approval = ports.approvalOf(toolCallId)
    const folder = approval?.folder
    const where = folder && await tools.folders.whereabouts(toolName, input, cwd, folder)
    if (where?.is === 'moved') {
      isHeld = true
      asked.set(toolCallId, { ...call, folder: where.to, reason: askedAgain(folder!.path, where.to) })
      return
    }
    if (isHeld && approval !== undefined) return
    if (where?.is === 'gone') return ports.end(call, failed(call, folderGone(folder!.path)))
    signal.throwIfAborted()
    // A tool that was replaced while its server reconnected may need an approval; the call is bound to the tool that is checked.
    if (approval === undefined && ports.needsApproval(toolName)) return ask(call)
    const identity = approval === undefined ? tools.identity(toolName) : approval.identity
    const isDurable = approval !== undefined || !isRead(call)
    await ports.begin(call, isDurable)
    let end: CallEnd
    try {
      const { durationMs, ...result } = await tools.execute({
        name: toolName,
        input,
        runId,
        attempt,
        callId: toolCallId,
        cwd,
        signal,
        identity,
        folder
      })
      end = result.status === 'complete'
        ? { event: { type: 'tool-output', toolCallId, toolName, output: result.output }, state: 'done', durationMs }
        : { ...failed(call, result.errorText), durationMs }
    } catch (error) {
      if (isDurable || !ports.repeatsReads) await ports.end(call, failed(call, OUTCOME_UNKNOWN, 'unknown'))
      throw error
    }
    await ports.end(call, end)
  }

  const decisions = calls.map((call) => ({ call, decision: decide(call) }))
  if (decisions.some(({ decision }) => decision === 'wait')) return { asked: [], isWaiting: true }
  for (const { call, decision } of decisions) if (typeof decision === 'object') await ports.end(call, decision)
  const callsTo = (what: 'run' | 'ask') => decisions.filter(({ decision }) => decision === what).map(({ call }) => call)
  await runInOrder(callsTo('run'), isRead, execute)
  for (const call of callsTo('ask')) await ask(call)
  return { asked: calls.flatMap(({ toolCallId }) => asked.get(toolCallId) ?? []), isWaiting: asked.size > 0 }
}
