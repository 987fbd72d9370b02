import type { ModelMessage, UIMessage } from 'ai'
import { DENIED } from '../approvals/approval-record.ts'
import { BadMessage, deepestIssue, type RawMessage } from './raw-message.ts'

const OUTCOME_LOST = 'The outcome of this approved call was lost on the way here: check what it did before doing it again.'

const KNOWN = /^(?:text|reasoning|reasoning-file|file|custom|source-url|source-document|step-start|dynamic-tool|tool-.+|data-.+)$/

/**
 * Turns a chat client's message (of version 5, 6 or 7) into the model's messages. What it shows beside the
 * conversation (our analysis, data parts) is left out; of a stored message, which nobody is there to mend, also what no
 * client of today knows. `where` names the message. Throws BadMessage (400) that says so.
 */
export async function fromUIMessage (message: RawMessage, where: string, isStored = false): Promise<ModelMessage[]> {
  const { safeValidateUIMessages, convertToModelMessages } = await import('ai')
  if (!Array.isArray(message.parts)) throw new BadMessage(`${where}.parts must be an array of parts.`)
  const parts = message.parts.filter((part) => !isStored || KNOWN.test(part?.type)).map(settled)
  if (isStored && parts.length === 0) return []
  const checked = await safeValidateUIMessages({ messages: [{ ...message, id: typeof message.id === 'string' ? message.id : '', parts }] })
  if (!checked.success) throw new BadMessage(`${where}${whatIsWrong(checked.error)}`)
  const [valid] = checked.data
  for (const [n, part] of valid.parts.entries()) {
    if (part.type === 'file' && !part.providerReference && !isReadable(part.url)) {
      throw new BadMessage(`${where}.parts[${n}].url must be a data:, http: or https: URL.`)
    }
  }
  try {
    return asRefused(await convertToModelMessages([{ ...valid, parts: valid.parts.filter((part) => !isAnalysis(part)) }]), valid.parts)
  } catch (error) {
    throw new BadMessage(`${where} cannot be used: ${(error as Error).message}`)
  }
}

/**
 * A tool part in a form that every check takes, without what only the ledger may say. Clients keep an approval's id
 * without an answer beside the outcome of a call that was decided elsewhere or never, and 5.x knows no approvals.
 */
function settled (part: any): unknown {
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
    default:
      return { ...call, input }
  }
}

/** The messages with each denial as the model was told it at first: the SDK makes an error of it. */
function asRefused (messages: ModelMessage[], parts: UIMessage['parts']): ModelMessage[] {
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

const isReadable = (url: string) => URL.canParse(url) && ['data:', 'http:', 'https:'].includes(new URL(url).protocol)

/** Where in a message, and what: ".parts[1].text: Invalid input …". */
function whatIsWrong (error: Error): string {
  const { issues } = (error.cause ?? {}) as { issues?: Array<{ path: PropertyKey[], message: string }> }
  if (!issues?.length) return ' is not a UI message.'
  const { path, message } = deepestIssue(issues)
  const [, ...inside] = path
  return `${inside.map((key) => typeof key === 'number' ? `[${key}]` : `.${String(key)}`).join('')}: ${message}.`
}
