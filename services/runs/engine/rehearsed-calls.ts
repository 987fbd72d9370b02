import { type AddressQuestion, inputDigest, shownBoundary } from '../../approvals/index.ts'
import type { Call } from '../../contracts/call.ts'
import type { NewLine } from '../../contracts/sheet-record.ts'
import type { CallEnd, CallPorts } from './call-ports.ts'

const NOT_MADE = 'This is a rehearsal: the call was not made, as it would reach beyond the copy of the folder, and its outcome is ' +
  'unknown. Go on as if it had succeeded.'

/** What is known of a call before it is rehearsed. */
interface Known {
  /** Whether it changes nothing but the copy of the folder. */
  isCopied: boolean
  /** Whether its tool asks. */
  asks: boolean
  /** Why it asks though its tool does not. */
  question?: Partial<AddressQuestion> & { reason: string }
}

interface Parts extends Pick<CallPorts, 'tools'> {
  rehearsed: NonNullable<CallPorts['rehearsed']>
}

/**
 * Decides about a call of a rehearsal. Undefined for a call that is made: it only reads, or changes the copy alone. Any other one is
 * answered here, and never reaches what it would change. What the run itself would ask for, and what was not made, becomes a line of the
 * sheet; grants are looked up as in the folder itself, and none is used.
 */
export async function rehearseCall (
  call: Call,
  { isCopied, asks, question }: Known,
  { tools, rehearsed: { cwd, isOnCopy, grants, note } }: Parts
): Promise<CallEnd | undefined> {
  const { toolCallId, toolName, input } = call
  const tool = tools.find(toolName)
  if (tool === undefined) return undefined
  const line = { toolCallId, toolName, input, digest: inputDigest(input), identity: tools.identity(toolName), scopes: [] }
  if (tool.answeredBy?.by === 'user') {
    note({ ...line, outcome: 'question', asks: true })
    return undefined
  }
  const mayAsk = (asks && !(isCopied && isOnCopy)) || question !== undefined
  // What is told to the user, and commands in the background, are no files and no servers.
  const isRead = tool.effect === 'read' && tool.proves === undefined && tool.answeredBy === undefined
  if ((isRead || isCopied || tool.isForCommands) && !mayAsk) return undefined
  const folder = await tools.folders.of(toolName, input, cwd)
  if (folder === undefined) return undefined
  const isAsked = mayAsk && await grants.covering(call, folder) === undefined
  if (isRead && !isAsked) return undefined
  const { boundary, scopes = [], reason } = isAsked ? await grants.offer(call, folder, question, { isRehearsed: true }) : {}
  if (boundary?.is === 'refused') {
    return { event: { type: 'tool-error', toolCallId, toolName, errorText: boundary.why }, state: 'done' }
  }
  const shown: Omit<NewLine, 'outcome'> = {
    ...line,
    asks: isAsked,
    reason,
    ...shownBoundary(boundary),
    toolServer: tools.toolServer(toolName),
    scopes: scopes.filter(({ scope }) => scope !== 'once')
  }
  if (isCopied) {
    if (isAsked) note({ ...shown, outcome: 'copied' })
    return undefined
  }
  note({ ...shown, outcome: 'unknown' })
  return { event: { type: 'tool-output', toolCallId, toolName, output: { rehearsed: NOT_MADE } }, state: 'done' }
}
