import type { PermissionOption, ToolCallContent } from '@agentclientprotocol/sdk'
import { pause, pauseBefore } from '../client/backoff.ts'
import { isCut, isRefusal } from '../client/errors.ts'
import {
  AgentError,
  decideApproval,
  listApprovals,
  previewApproval,
  type Agent,
  type Approval,
  type ApprovalDecision
} from '../client/index.ts'
import { questionAsker, requestPermission, type Asked, type ItemParts } from './questions.ts'
import { diffContent, kindOf, locationsOf, textContent, titleOf } from './tool-facts.ts'

/**
 * How often a decision is sent again while the service cannot be reached. The attempts take about a minute, so that the service can
 * restart.
 */
const ATTEMPTS = 12
const REJECT = 'reject'

/**
 * The outcome of an item. `decided`: decided by the editor. `gone`: decided elsewhere or withdrawn. `open`: still open, because the editor
 * cancelled its request or has disconnected. `unasked`: still open, because the editor cannot show the item.
 */
type Outcome = 'decided' | 'gone' | 'open' | 'unasked'

/** Returns the items of a conversation that wait for its user, oldest first. */
export async function openItems (agent: Agent, threadId: string): Promise<Approval[]> {
  const found: Approval[] = []
  for (let cursor: string | undefined; ;) {
    const query = { limit: 500, ...cursor !== undefined && { cursor } }
    const { data } = await listApprovals({ client: agent.client, query, throwOnError: true })
    found.push(...data.approvals.filter((item) => item.threadId === threadId && (item.kind === 'tool' || item.kind === 'question')))
    cursor = data.nextCursor
    if (cursor === undefined) return found
  }
}

/** Returns true if an item still waits. A decision with a scope can have decided have decided other waiting items, too. */
export const isOpen = async (agent: Agent, { approvalId, threadId }: Approval): Promise<boolean> =>
  (await openItems(agent, threadId!)).some((item) => item.approvalId === approvalId)

/** Sends a decision until the service has received it. If the item was decided elsewhere in the meantime, that decision stands. */
export async function decide (agent: Agent, approvalId: string, body: ApprovalDecision): Promise<Outcome> {
  for (let attempt = 0; ; attempt++) {
    try {
      await decideApproval({ client: agent.client, path: { id: approvalId }, body, throwOnError: true })
      return 'decided'
    } catch (error) {
      if (error instanceof AgentError && [404, 409, 410].includes(error.statusCode ?? 0)) return 'gone'
      if (!isCut(error) || attempt >= ATTEMPTS) throw error
      await pause(pauseBefore(attempt))
    }
  }
}

/**
 * Asks the editor about one item, and decides the item by the answer. If the item is decided elsewhere or the signal aborts, the request is
 * cancelled. In these cases, and if the editor disconnects, this function decides nothing.
 */
export async function askItem (parts: ItemParts, item: Approval, signal: AbortSignal): Promise<Outcome> {
  const { agent } = parts
  const over = new AbortController()
  const asking = AbortSignal.any([signal, over.signal])
  const closed = untilClosed(agent, item, asking)
  const asked = ask(parts, item, asking)
  asked.catch(() => {})
  try {
    const answer = await Promise.race([asked, closed.then(() => 'gone' as const), aborted(signal)])
    if (answer === undefined) return 'open'
    return typeof answer === 'string' ? answer : await decide(agent, item.approvalId, answer)
  } finally {
    over.abort()
  }
}

const aborted = (signal: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(undefined)
    signal.addEventListener('abort', () => resolve(undefined), { once: true })
  })

/** Resolves when the item is no longer open. Never resolves after an abort. */
async function untilClosed (agent: Agent, item: Approval, signal: AbortSignal): Promise<void> {
  const { approvalId, threadId } = item
  const found = Promise.withResolvers<void>()
  const look = () => void isOpen(agent, item).then((open) => { if (!open) found.resolve() }, () => {})
  const follow = async () => {
    const onConnection = (isConnected: boolean) => { if (isConnected) look() }
    for await (const event of agent.events({ threadId, types: ['approval:closed'], onConnection, signal })) {
      if (event.type === 'approval:closed' && event.approvalId === approvalId) return found.resolve()
      if (event.type === 'reset') look()
    }
  }
  void follow().catch(() => {})
  return found.promise
}

/** Returns the user's decision; undefined if the user made none. */
async function ask (parts: ItemParts, item: Approval, signal: AbortSignal): Promise<Asked> {
  return item.kind === 'question' ? questionAsker(parts).ask(item, signal) : askPermission(parts, item, signal)
}

async function askPermission ({ agent, client, sessionId, cwd }: ItemParts, item: Approval, signal: AbortSignal): Promise<Asked> {
  const { approvalId, toolCallId, toolName = 'tool', input, scopes = [] } = item
  const preview = await previewOf(agent, approvalId, signal)
  const diffs = preview?.changes.flatMap(({ path, diff }) => diff === undefined ? [] : diffContent(diff, path)) ?? []
  const failing = preview?.refused && `It would fail now: ${preview.refused}`
  const notes = [item.note, item.boundary?.text, preview?.note, failing].filter((text) => text)
  const content: ToolCallContent[] = [...notes.map((text) => textContent(text!)), ...diffs]
  const offered = scopes.length > 0 ? scopes : [{ scope: 'once' as const, text: 'This call alone.' }]
  const options: PermissionOption[] = [
    ...offered.map(({ scope, text }): PermissionOption =>
      ({ optionId: scope, name: text, kind: scope === 'once' ? 'allow_once' : 'allow_always' })),
    { optionId: REJECT, name: 'Do not allow it.', kind: 'reject_once' }
  ]
  const chosen = await requestPermission(client, {
    sessionId,
    toolCall: {
      toolCallId: toolCallId ?? approvalId,
      title: titleOf(toolName, input),
      kind: kindOf(toolName),
      rawInput: input,
      locations: locationsOf(input, item.cwd ?? cwd),
      ...content.length > 0 && { content }
    },
    options
  }, signal)
  if (chosen === undefined) return undefined
  if (chosen === REJECT) return { approved: false }
  const scope = offered.find((each) => each.scope === chosen)?.scope
  // The editor answered with an option that was not offered.
  if (scope === undefined) return undefined
  return { approved: true, scope, ...preview?.previewDigest !== undefined && { previewDigest: preview.previewDigest } }
}

/** Returns the changes that the call would make; undefined if there is no preview. */
async function previewOf (agent: Agent, id: string, signal: AbortSignal) {
  const { data, error } = await previewApproval({ client: agent.client, path: { id }, signal, throwOnError: false })
  if (error !== undefined && !isRefusal(error)) return undefined
  return data
}
