import type { ModelMessage, UIMessage } from 'ai'
import { ATTACHMENT } from '../contracts/attached-file.ts'
import { DENIED } from '../contracts/approval-record.ts'
import { BadMessage, deepestIssue, type RawMessage, saidIn, steeringMessagePart } from '../threads/index.ts'

const OUTCOME_LOST = 'The outcome of this approved call was lost on the way here: check what it did before doing it again.'

const KNOWN =
  /^(?:text|reasoning|reasoning-file|file|custom|source-url|source-document|step-start|steering-message|dynamic-tool|tool-.+|data-.+)$/

/**
 * Converts a chat client's message (AI SDK 5, 6 or 7) to model messages, without the service's analysis and data parts. Parts of unknown
 * kinds are dropped from a stored message, because no client is there to correct it. Throws a BadMessage (400) that names the message
 * `where`.
 */
export async function fromUIMessage (message: RawMessage, where: string, isStored: boolean): Promise<ModelMessage[]> {
  const { safeValidateUIMessages, convertToModelMessages } = await import('ai')
  if (!Array.isArray(message.parts)) throw new BadMessage(`${where}.parts must be an array of parts.`)
  const parts = message.parts.filter((part) => !isStored || KNOWN.test(part?.type)).map(withoutApproval).flatMap(asSaid)
    .flatMap((part) => message.role === 'assistant' ? asRevision(part) : [part])
  if (isStored && parts.length === 0) return []
  const checked = await safeValidateUIMessages({ messages: [{ ...message, id: typeof message.id === 'string' ? message.id : '', parts }] })
  if (!checked.success) throw new BadMessage(`${where}${whatIsWrong(checked.error)}`)
  const [valid] = checked.data
  for (const [n, part] of valid.parts.entries()) {
    if (part.type === 'file' && !part.providerReference && !isReadable(part.url)) {
      throw new BadMessage(`${where}.parts[${n}].url must be a data:, http:, https: or attachment: URL.`)
    }
  }
  try {
    return withDenials(await convertToModelMessages([{ ...valid, parts: valid.parts.filter((part) => !isAnalysis(part)) }]), valid.parts)
  } catch (error) {
    throw new BadMessage(`${where} cannot be used: ${(error as Error).message}`)
  }
}

/**
 * Converts a message that the user sent to an active run to a part that splits the answer: the SDK converts the part to a user message. A
 * chat can contain such a message twice, from the time when it waited and from the step that read it; only the later one is kept.
 */
function asSaid (part: unknown, at: number, parts: unknown[]): unknown[] {
  const said = saidIn(part)
  if (said === undefined) return [part]
  const isAgain = parts.slice(at + 1).some((later) => saidIn(later)?.id === said.id)
  return isAgain ? [] : [steeringMessagePart(said)]
}

/** Converts the second version of an answer to a text part behind the first version. */
function asRevision (part: any): unknown[] {
  const text = part?.type === 'data-revision' ? part.data?.text : undefined
  return typeof text === 'string' ? [{ type: 'step-start' }, { type: 'text', text }] : [part]
}

/**
 * Converts a tool part to a form that the SDK's validation accepts, without approval fields, because only the ledger decides approvals. If
 * a call was decided elsewhere or never, a client might keep an approval id without an answer beside its outcome. Clients of AI SDK 5 have
 * no approvals.
 */
function withoutApproval (part: any): unknown {
  if (typeof part?.type !== 'string' || !(part.type.startsWith('tool-') || part.type === 'dynamic-tool')) return part
  const { approval, providerExecuted, rawInput, ...call } = part
  if (call.state === 'input-streaming') return call
  const input = call.input ?? rawInput ?? {}
  const denied = {
    ...call,
    input,
    state: 'output-denied',
    approval: { id: String(approval?.id), approved: false, reason: textOf(approval?.reason) }
  }
  switch (call.state) {
    case 'approval-requested':
      return { ...call, input, state: 'input-available' }
    case 'approval-responded':
      return approval?.approved === false ? denied : { ...call, input, state: 'output-error', errorText: OUTCOME_LOST }
    case 'output-denied':
      return denied
    case 'output-available':
      // JSON has no `undefined`, so the output of a tool that returns nothing is missing in the request.
      return { ...call, input, output: call.output ?? null }
    default:
      return { ...call, input }
  }
}

/** Restores denials to the form in which the model first got them. The SDK has converted each denial to an error. */
function withDenials (messages: ModelMessage[], parts: UIMessage['parts']): ModelMessage[] {
  const reasons = new Map(
    parts.flatMap((part) =>
      'toolCallId' in part && part.state === 'output-denied' ? [[part.toolCallId, part.approval.reason ?? DENIED]] : []
    )
  )
  return messages.map((message) =>
    message.role !== 'tool' || reasons.size === 0
      ? message
      : {
          ...message,
          content: message.content.map((part) =>
            part.type === 'tool-result' && reasons.has(part.toolCallId)
              ? { ...part, output: { type: 'execution-denied' as const, reason: reasons.get(part.toolCallId) } }
              : part
          )
        }
  )
}

const textOf = (value: unknown) => typeof value === 'string' ? value : undefined

function isAnalysis (part: { type: string, providerMetadata?: Record<string, any> }): boolean {
  return part.type === 'reasoning' && part.providerMetadata?.agent?.phase === 'analysis'
}

const isReadable = (url: string) => URL.canParse(url) && ['data:', 'http:', 'https:', ATTACHMENT].includes(new URL(url).protocol)

/** Returns the path and the message of a validation issue, such as ".parts[1].text: Invalid input …". */
function whatIsWrong (error: Error): string {
  const { issues } = (error.cause ?? {}) as { issues?: Array<{ path: PropertyKey[], message: string }> }
  if (!issues?.length) return ' is not a UI message.'
  const { path, message } = deepestIssue(issues)
  const [, ...inside] = path
  return `${inside.map((key) => typeof key === 'number' ? `[${key}]` : `.${String(key)}`).join('')}: ${message}.`
}
