import type { ModelMessage } from 'ai'
import type { RawMessage } from '../threads/index.ts'

/**
 * Converts a message that contains only texts, with the same result as the SDK, which takes fifty times as long. Most messages
 * of a long conversation are of this kind. Returns undefined for any other message: the SDK must check and convert it.
 */
export function plainMessages (message: RawMessage): ModelMessage[] | undefined {
  return message.parts === undefined ? plainModelMessage(message) : plainUIMessage(message)
}

type Part = Record<string, unknown>
type TextRole = 'user' | 'assistant'

const hasOnly = (value: object, names: readonly string[]): boolean => {
  for (const name in value) if (!names.includes(name)) return false
  return true
}
const isObject = (value: unknown): value is Part => typeof value === 'object' && value !== null && !Array.isArray(value)
const isTextRole = (role: string): role is TextRole => role === 'user' || role === 'assistant'

function plainModelMessage ({ role, content, providerOptions }: RawMessage): ModelMessage[] | undefined {
  if (!isTextRole(role) || providerOptions !== undefined) return undefined
  if (typeof content === 'string') return [{ role, content }]
  if (!Array.isArray(content)) return undefined
  const texts: Array<{ type: 'text', text: string }> = []
  for (const part of content) {
    if (!isObject(part) || part.type !== 'text' || typeof part.text !== 'string' || part.providerOptions !== undefined) return undefined
    texts.push({ type: 'text', text: part.text })
  }
  return [{ role, content: texts }]
}

const MESSAGE = ['id', 'role', 'parts', 'metadata']
const TEXT = ['type', 'text', 'state']
const STEP = ['type']
const REASONING = ['type', 'text', 'state', 'providerMetadata']
const STATES = [undefined, 'streaming', 'done']

function plainUIMessage (message: RawMessage): ModelMessage[] | undefined {
  const { role, parts, id } = message
  if (
    !isTextRole(role) || !Array.isArray(parts) || parts.length === 0 || !hasOnly(message, MESSAGE) ||
    (id !== undefined && typeof id !== 'string')
  ) return undefined
  const steps: Array<Array<{ type: 'text', text: string }>> = [[]]
  for (const part of parts) {
    if (!isObject(part)) return undefined
    if (part.type === 'text' && typeof part.text === 'string' && STATES.includes(part.state as string) && hasOnly(part, TEXT)) {
      steps.at(-1)!.push({ type: 'text', text: part.text })
    } else if (role === 'assistant' && part.type === 'step-start' && hasOnly(part, STEP)) steps.push([])
    else if (role === 'user' || !isAnalysis(part)) return undefined
  }
  if (role === 'user') return [{ role, content: steps[0] }]
  return steps.filter((content) => content.length > 0).map((content) => ({ role, content }))
}

/** Whether the part is the service's own analysis, which is shown before an answer and is not sent to models. */
function isAnalysis ({ providerMetadata, ...part }: Part): boolean {
  if (part.type !== 'reasoning' || typeof part.text !== 'string' || !STATES.includes(part.state as string) || !hasOnly(part, REASONING)) {
    return false
  }
  return isObject(providerMetadata) && hasOnly(providerMetadata, ['agent']) && isObject(providerMetadata.agent) &&
    hasOnly(providerMetadata.agent, ['phase']) && providerMetadata.agent.phase === 'analysis'
}
