import { isDeepStrictEqual } from 'node:util'
import { intentsIn } from '../run-log/open-calls.ts'
import { type AddressQuestion, inputDigest } from '../../approvals/index.ts'
import { askedAgain, type CallLeft, changedPlaces, changedSince, folderGone, runInOrder, within } from '../../tools/index.ts'
import { OUTCOME_UNKNOWN } from '../../contracts/model-texts.ts'
import type { Boundary } from '../../contracts/boundary.ts'
import type { Grant } from '../../contracts/grant-record.ts'
import type { ShownPlace, WorkFolder } from '../../contracts/tool.ts'
import type { CallEnd, CallPorts } from './call-ports.ts'
import { rehearseCall } from './rehearsed-calls.ts'
import type { AskedCall, Call, CallAnswer, CallApproval } from '../../contracts/call.ts'

/** A call that changes nothing but the copy of a folder, and the working folder of its box, if it is a command. */
interface CopiedCall {
  /** Real path of the copy. */
  copy: string
  confinedTo?: WorkFolder
}

/** Finds out whether a call changes nothing but the copy that its run works in. */
async function copiedCall (
  { toolName: name, input }: Call,
  { tools, run: { cwd, signal } }: Pick<CallPorts, 'tools' | 'run'>
): Promise<CopiedCall | undefined> {
  const copy = tools.copyAt(cwd)?.folder
  const tool = tools.find(name)
  if (copy === undefined || (tool?.willChange === undefined && !tool?.isCommand)) return undefined
  const folder = await tools.folders.of(name, input, cwd)
  if (folder === undefined) return undefined
  if (tool.isCommand) {
    const boundary = await tools.boundary({ name, input, cwd, folder })
    return boundary?.is === 'confined' && within(boundary.folder.path, copy) ? { copy, confinedTo: boundary.folder } : undefined
  }
  const seen = await tools.foresee({ name, input, cwd, folder, signal })
  // The tool refuses the call, and says why.
  if (seen?.refused !== undefined) return { copy }
  return seen?.places.every(({ path }) => within(path, copy)) ? { copy } : undefined
}

const REFUSED_BEFORE = 'The user denied this very call earlier in the conversation.'
const UNANSWERED = 'Nobody answered in time.'
/** Characters of a corrected input that the model is told. */
const INPUT_SHOWN = 2_000

/** A grant that covers a call, the folder that the call works in, the files that it may change, and the working folder of its box. */
interface Granted {
  grant: Grant
  folder: WorkFolder
  paths?: string[]
  /** What the call must find at the paths. */
  shown?: readonly ShownPlace[]
  confinedTo?: WorkFolder
}

/** Puts in front of the result that the call ran with another input than the model's. */
function withCorrection<E extends CallEnd['event']> (event: E, approval: CallApproval | undefined): E {
  if (approval?.correctedInput === undefined || event.type === 'tool-denied') return event
  const text = `ran with the user's corrected input: ${JSON.stringify(approval.correctedInput).slice(0, INPUT_SHOWN)}`
  if (event.type === 'tool-error') return { ...event, errorText: `${text}\n${event.errorText}` }
  return { ...event, output: { ran: text, ...event.output } }
}

/**
 * Settles the open calls of a step and returns those that wait for somebody. No call runs while an approval or an answer for one of
 * them is open. Approvals and questions come first; when all are decided, the calls of the application are handed out. A call that
 * was begun before has an unknown outcome and never runs again; a denied call is refused, also when the model repeats it. The other
 * calls run, reads side by side and the rest in order, also those that a grant covers; before a tool that may change something, or
 * that was approved or granted, starts, an intent is on disk, and before it what the call is about to change. A call whose tool was
 * changed meanwhile asks. An approved call whose folder, or what it would change there, is no longer what was shown asks again, and
 * approved calls behind it wait for that answer. Rejects when the run is aborted.
 */
export async function settleCalls (open: readonly Call[], ports: CallPorts): Promise<{ asked: AskedCall[], isWaiting: boolean }> {
  let calls = open
  const { tools, run: { runId, owner, attempt, cwd, signal } } = ports
  const asked = new Map<string, AskedCall>()
  const answeredBy = ({ toolName }: Call) => tools.find(toolName)?.answeredBy
  const begun = intentsIn(ports.events)
  let isHeld = false
  const isRead = ({ toolName }: Call) => tools.find(toolName)?.effect === 'read'
  /** Calls that need no approval, because they change nothing but a copy. */
  const copied = new Map<string, CopiedCall>()
  /** Calls that are asked because of their addresses, or of what else they do, alone. */
  const questions = new Map<string, Partial<AddressQuestion> & { reason: string }>()
  /** Calls that a rehearsal lets through. */
  const rehearsed = new Set<string>()
  /** What a model wrote as text, it may have meant to show. */
  const asksByTool = (call: Call) => ports.needsApproval(call.toolName) || (call.isFromText === true && !isRead(call))
  const asksAnyway = (call: Call) => !copied.has(call.toolCallId) && !rehearsed.has(call.toolCallId) && asksByTool(call)
  const needsApproval = (call: Call) => asksAnyway(call) || questions.has(call.toolCallId)
  /** What calls that ask leave, for those behind them. */
  const ahead = { files: new Map<string, Uint8Array | null>(), others: new Set<string>(), calls: [] as string[] }
  const inputOf = (call: Call) => ports.approvalOf(call.toolCallId)?.correctedInput ?? call.input
  const failed = ({ toolCallId, toolName }: Call, errorText: string, state: CallEnd['state'] = 'done'): CallEnd =>
    ({ event: { type: 'tool-error', toolCallId, toolName, errorText }, state })
  const refused = ({ toolCallId, toolName }: Call, state: CallEnd['state'], reason: string, approvalId?: string): CallEnd =>
    ({ event: { type: 'tool-denied', toolCallId, toolName, reason, ...(approvalId !== undefined && { approvalId }) }, state })

  function answered (call: Call, answer: Exclude<CallAnswer, { is: 'open' }>): CallEnd {
    if (answer.is !== 'output') return failed(call, answer.errorText, answer.is === 'unknown' ? 'unknown' : 'done')
    const { is, ...output } = answer
    const event = { type: 'tool-output' as const, toolCallId: call.toolCallId, toolName: call.toolName, ...output }
    return { event: withCorrection(event, ports.approvalOf(call.toolCallId)), state: 'done' }
  }

  /** Decides about a call before any call runs. */
  function decide (call: Call): 'run' | 'ask' | 'wait' | CallEnd {
    const answer = ports.answerOf(call.toolCallId)
    if (answer !== undefined) return answer.is === 'open' ? 'wait' : answered(call, answer)
    if (begun.has(call.toolCallId)) return failed(call, OUTCOME_UNKNOWN, 'unknown')
    const approval = ports.approvalOf(call.toolCallId)
    if (approval === undefined) return answeredBy(call)?.by !== 'user' && needsApproval(call) ? 'ask' : 'run'
    switch (approval.state) {
      case 'approved':
        return 'run'
      case 'open':
        return 'wait'
      case 'begun':
        return failed(call, OUTCOME_UNKNOWN, 'unknown')
      case 'denied':
        return refused(call, 'denied', approval.reason, approval.approvalId)
      case 'expired':
        return refused(call, 'expired', UNANSWERED)
    }
  }

  /** Adds the call to those that need an approval, with the folder that is shown with the question. */
  async function ask (call: Call): Promise<void> {
    if (ports.wasDenied(call)) return ports.end(call, refused(call, 'denied', REFUSED_BEFORE))
    const identity = tools.identity(call.toolName)
    const folder = await tools.folders.of(call.toolName, call.input, cwd)
    if (folder === undefined) return ports.end(call, failed(call, folderGone(cwd)))
    const question = questions.get(call.toolCallId)
    if (ports.deniesUngranted !== undefined) {
      return ports.end(call, refused(call, 'denied', [ports.deniesUngranted, question?.reason].filter(Boolean).join(' ')))
    }
    const offer = await ports.grants.offer(call, folder, question)
    if (offer.boundary?.is === 'refused') return ports.end(call, failed(call, offer.boundary.why))
    const bound = await bind(call, folder)
    const toolServer = tools.toolServer(call.toolName)
    asked.set(call.toolCallId, { kind: 'tool', ...call, folder, identity, toolServer, ...bound, ...await withOutlook(call, offer) })
  }

  /** Adds to where a command would run what of it could be undone. */
  async function withOutlook<T extends { boundary?: Boundary }> (call: Call, offer: T): Promise<T> {
    if (offer.boundary === undefined) return offer
    const undo = await tools.outlook({ name: call.toolName, input: inputOf(call), cwd, signal })
    return { ...offer, boundary: { ...offer.boundary, ...(undo !== undefined && { undo }) } }
  }

  /** Returns what the approval of a call is bound to, behind the calls that are asked before it. */
  async function bind (call: Call, folder: WorkFolder) {
    const seen = await tools.foresee({ name: call.toolName, input: call.input, cwd, folder, signal }, ahead.files)
    const behind = [...ahead.calls]
    const leaves = seen?.preview?.leaves
    const shown = seen?.shown ?? []
    // What a call in front of this one leaves is of others if what it found was.
    const others = (await ports.grants.othersOf(shown))?.filter((path) => !ahead.files.has(path) || ahead.others.has(path))
    for (const [path, content] of leaves ?? []) {
      ahead.files.set(path, content)
      if (others !== undefined && others.length > 0) ahead.others.add(path)
    }
    if (leaves !== undefined) ahead.calls.push(call.toolCallId)
    const teaching = await ports.grants.teaching(call, folder, { shown, others })
    return { shown, ...teaching, ...(behind.length > 0 && seen && { behind }) }
  }

  /** Asks again for an approved call that would not do what was shown; the approved calls behind it wait. */
  async function askAnew (
    call: Call,
    { correctedInput }: CallApproval,
    folder: WorkFolder,
    bound: { shown?: ShownPlace[], reason: string, asks: number }
  ): Promise<void> {
    isHeld = true
    const identity = tools.identity(call.toolName)
    // A corrected input is approved for this call alone.
    const boundary = await tools.boundary({ name: call.toolName, input: inputOf(call), cwd, folder })
    const more = correctedInput === undefined ? await ports.grants.offer(call, folder) : { correctedInput, ...(boundary && { boundary }) }
    const { shown = [] } = bound
    const others = await ports.grants.othersOf(shown)
    const teaching = correctedInput === undefined ? await ports.grants.teaching(call, folder, { shown, others }) : {}
    const toolServer = tools.toolServer(call.toolName)
    const outlook = await withOutlook(call, more)
    asked.set(call.toolCallId, { kind: 'tool', ...call, folder, identity, toolServer, ...outlook, ...bound, ...teaching })
  }

  /**
   * Compares what is at the paths of an approved call with what was shown. Returns what the call may find there, or undefined when it is
   * asked again. Approvals without a known state are not compared.
   */
  async function compare (call: Call, approval: CallApproval, folder: WorkFolder): Promise<{ shown?: ShownPlace[] } | undefined> {
    if (approval.shown === undefined) return {}
    const seen = await tools.foresee({ name: call.toolName, input: inputOf(call), cwd, folder, signal })
    // The tool refuses the call, and says why.
    if (seen === undefined || seen.refused !== undefined) return {}
    const { shown } = seen
    const expected = approval.unbound ? approval.shown.map(({ state, ...place }) => place) : approval.shown
    const isSeen = approval.previewDigest !== undefined && approval.previewDigest === inputDigest(shown)
    const changed = isSeen ? [] : await changedPlaces(expected, shown)
    if (changed.length === 0) return { shown: approval.unbound ? expected : shown }
    await askAnew(call, approval, folder, { shown, reason: changedSince(changed), asks: approval.asks + 1 })
    return undefined
  }

  /** Returns the grant that covers a call which needs an approval. */
  async function grantOf (call: Call): Promise<Granted | undefined> {
    if (ports.wasDenied(call)) return undefined
    const folder = await tools.folders.of(call.toolName, call.input, cwd)
    const covering = folder && await ports.grants.covering(call, folder)
    return covering && { ...covering, folder: folder! }
  }

  /** Whether what a call that approved runs taught finds at its paths is still what it was covered for. */
  async function isAsFound (call: Call, { shown, folder }: Granted): Promise<boolean> {
    if (shown === undefined) return true
    const seen = await tools.foresee({ name: call.toolName, input: inputOf(call), cwd, folder, signal })
    return seen?.refused === undefined && (await changedPlaces(shown, seen?.shown ?? [])).length === 0
  }

  async function execute (call: Call): Promise<void> {
    const { toolCallId, toolName } = call
    ports.checkLimit()
    const approval = ports.approvalOf(toolCallId)
    const input = inputOf(call)
    // A tool that was replaced while its server reconnected may need an approval; the call is bound to the tool that is checked.
    const isAsked = approval === undefined && needsApproval(call)
    // Looked up again: a call before this one may have ended the grant.
    const granted = isAsked ? await grantOf(call) : undefined
    if (isAsked && granted === undefined) return ask(call)
    const folder = approval?.folder ?? granted?.folder
    const where = folder && await tools.folders.whereabouts(toolName, input, cwd, folder)
    if (where?.is === 'moved') {
      if (approval === undefined) return ask(call)
      const seen = await tools.foresee({ name: toolName, input, cwd, folder: where.to, signal })
      const reason = askedAgain(folder!.path, where.to)
      return askAnew(call, approval, where.to, { shown: seen?.shown ?? [], reason, asks: approval.asks })
    }
    if (isHeld && approval !== undefined) return
    if (where?.is === 'gone') return ports.end(call, failed(call, folderGone(folder!.path)))
    signal.throwIfAborted()
    // Of the tool that was agreed to; it may have been replaced since.
    const identity = approval !== undefined ? approval.identity : granted !== undefined ? granted.grant.identity : tools.identity(toolName)
    const shownIn = approval?.boundary?.is === 'confined' ? approval.boundary.folder : undefined
    const inCopy = copied.get(toolCallId)
    const confinedTo = shownIn ?? granted?.confinedTo ?? inCopy?.confinedTo
    const isDurable = approval !== undefined || granted !== undefined || !isRead(call)
    const agreed = { name: toolName, runId, callId: toolCallId, input, cwd, identity, folder, signal }
    const kept = await tools.keep({ ...agreed, owner })
    if ('errorText' in kept) return ports.end(call, failed(call, kept.errorText))
    const { paths = granted?.paths } = kept
    // A path that leads elsewhere by now is not covered.
    const isInCopy = inCopy === undefined || (paths ?? []).every((path) => within(path, inCopy.copy))
    const isCovered = isInCopy &&
      (granted?.paths === undefined || (isDeepStrictEqual(granted.paths, paths) && await isAsFound(call, granted)))
    const bound = approval && await compare(call, approval, folder!)
    if (approval !== undefined && bound === undefined) return kept.discard()
    // What nobody was asked about may be what a granted command executes.
    const resting = approval === undefined && isCovered ? await ports.grants.suspend(paths ?? [], granted?.grant) : []
    const isBegun = isCovered && await ports.begin(call, isDurable, [...kept.ops, ...resting], granted?.grant).catch(async (error) => {
      await kept.discard()
      throw error
    })
    if (!isBegun) {
      copied.delete(toolCallId)
      await kept.discard()
      return ask(call)
    }
    let end: CallEnd
    try {
      const { durationMs, changes, stays, ...result } = await tools.execute({
        ...{ ...agreed, attempt, paths, shown: bound?.shown ?? granted?.shown, confinedTo },
        progress: (progress) => ports.progress?.(call, progress),
        ...ports.addresses && {
          mayRedirect: (from: string, to: string) =>
            ports.addresses!.mayRedirect(toolName, { from, to }, (host) => ports.grants.coversHost(toolName, host)),
          innerAddresses: ports.addresses.inner
        },
        ...ports.ask && { ask: (questions) => ports.ask!(call, questions) }
      })
      const { event, state }: CallEnd = result.status === 'completed'
        ? { event: { type: 'tool-output', toolCallId, toolName, output: result.output }, state: 'done' }
        : failed(call, result.errorText)
      if (stays !== undefined) kept.finishAfter?.(stays)
      const isOver = stays === undefined || kept.finishAfter === undefined
      const left: CallLeft = isOver
        ? await kept.finish({ changes, output: event.type === 'tool-output' ? event.output : {} })
        : { ops: [] }
      const found = changes ?? left.changes
      const ops = [...left.ops, ...await ports.grants.made(call, changes)]
      end = { event: { ...withCorrection(event, approval), ...(found && { changes: found }) }, state, durationMs, ops }
    } catch (error) {
      const { ops } = await kept.finish()
      if (isDurable || !ports.repeatsReads) await ports.end(call, { ...failed(call, OUTCOME_UNKNOWN, 'unknown'), ops })
      throw error
    }
    await ports.end(call, end)
  }

  /**
   * Adds the call to those that the application executes. The use of a grant is stored first, and that an undo will not cover what the
   * call may change, whatever becomes of it.
   */
  async function handOut (call: Call): Promise<void> {
    const { by, ...app } = answeredBy(call)!
    ports.checkLimit()
    const named = await tools.keep({ name: call.toolName, runId, callId: call.toolCallId, input: inputOf(call), cwd, owner, signal })
    const ops = 'errorText' in named ? [] : named.ops
    const needsGrant = ports.approvalOf(call.toolCallId) === undefined && ports.needsApproval(call.toolName)
    const granted = needsGrant ? await grantOf(call) : undefined
    if (needsGrant && (granted === undefined || !await ports.begin(call, true, ops, granted.grant))) return ask(call)
    if (!needsGrant && ops.length > 0) await ports.store(ops)
    asked.set(call.toolCallId, { kind: 'app', ...call, input: inputOf(call), ...app })
  }

  /** Notes for the sheet of a rehearsal what the run itself would do, and answers calls that reach beyond the copy of the folder. */
  async function rehearse (call: Call): Promise<boolean> {
    if (ports.rehearsed === undefined || begun.has(call.toolCallId)) return true
    const known = { isCopied: copied.has(call.toolCallId), asks: asksByTool(call), question: questions.get(call.toolCallId) }
    const end = await rehearseCall(call, known, { tools, rehearsed: ports.rehearsed })
    questions.delete(call.toolCallId)
    rehearsed.add(call.toolCallId)
    if (end !== undefined) await ports.end(call, end)
    return end === undefined
  }

  if (calls.length > 0) await ports.addresses?.note()
  for (const call of calls) {
    if (ports.approvalOf(call.toolCallId) !== undefined || answeredBy(call) !== undefined || begun.has(call.toolCallId)) continue
    const found = asksAnyway(call) || ports.rehearsed !== undefined ? await copiedCall(call, ports) : undefined
    if (found !== undefined) copied.set(call.toolCallId, found)
  }
  for (const call of calls) {
    if (ports.approvalOf(call.toolCallId) !== undefined || answeredBy(call) !== undefined || asksAnyway(call)) continue
    const question = await ports.addresses?.question(call) ?? await ports.question?.(call)
    if (question !== undefined) questions.set(call.toolCallId, question)
  }
  const made: Call[] = []
  for (const call of calls) if (await rehearse(call)) made.push(call)
  calls = made
  const decisions = calls.map((call) => ({ call, decision: decide(call) }))
  for (const entry of decisions) if (entry.decision === 'ask' && await grantOf(entry.call)) entry.decision = 'run'
  if (decisions.some(({ decision }) => decision === 'wait')) return { asked: [], isWaiting: true }
  for (const { call, decision } of decisions) if (typeof decision === 'object') await ports.end(call, decision)
  const callsTo = (what: 'run' | 'ask') => decisions.filter(({ decision }) => decision === what).map(({ call }) => call)
  const toRun = callsTo('run')
  await runInOrder(toRun.filter((call) => answeredBy(call) === undefined), isRead, execute)
  for (const call of callsTo('ask')) await ask(call)
  for (const call of toRun.filter((call) => answeredBy(call)?.by === 'user')) {
    if (ports.deniesQuestions === undefined) asked.set(call.toolCallId, { kind: 'question', ...call })
    else await ports.end(call, refused(call, 'denied', ports.deniesQuestions))
  }
  if (asked.size === 0) { for (const call of toRun) if (answeredBy(call)?.by === 'app') await handOut(call) }
  return { asked: calls.flatMap(({ toolCallId }) => asked.get(toolCallId) ?? []), isWaiting: asked.size > 0 }
}
