import type { LanguageModelV4Prompt, LanguageModelV4StreamPart, SharedV4ProviderMetadata } from '@ai-sdk/provider'
import { createError } from '@fastify/error'
import type { FinishReason, RunEvent, Usage } from '../runlog/events.ts'

/** Of one answer: a model that makes more calls goes round in circles. */
const MOST_CALLS = 128
/** Of one answer, bytes. */
const LONGEST_ANSWER = 16 * 1024 * 1024
/** What a part costs beside what it says, bytes. */
const PART_BYTES = 64

const AnswerTooLong = createError('ERR_RUN_TOO_LONG', 'The model\'s answer, with the inputs of its calls, grew beyond 16 MiB and was stopped.')
const TooManyCalls = createError('ERR_TOO_MANY_CALLS', `The model made more than ${MOST_CALLS} tool calls at once and was stopped; none of them was carried out.`)

/** A tool call of the model, its input as the JSON text it wrote. */
export interface ToolCall { toolCallId: string, toolName: string, input: string, providerMetadata?: SharedV4ProviderMetadata }

export interface StepResult { calls: ToolCall[], finishReason: FinishReason, usage: Usage }

/**
 * Turns the parts of one model call into events as they come, and remembers what the loop needs of them.
 * Part ids are numbered anew through the run and tool call ids made unique in it: providers repeat both. Throws for an
 * answer that nobody can want: inputs are kept here until they are taken up.
 */
export function createStepWriter ({ append, ids }: { append: (event: RunEvent) => void, ids: IdSource }) {
  const parts = { text: new Map<string, string>(), reasoning: new Map<string, string>() }
  const calls = new Map<string, string>()
  let bytes = 0
  const result: StepResult = { calls: [], finishReason: 'other', usage: { inputTokens: 0, outputTokens: 0 } }

  /** Our id of a part; one that was not announced begins by it, for no reader takes it otherwise. */
  const open = (kind: 'text' | 'reasoning', id: string): string => {
    let ours = parts[kind].get(id)
    if (ours === undefined) {
      parts[kind].set(id, ours = ids.part(kind))
      append(kind === 'text' ? { type: 'text-start', id: ours } : { type: 'reasoning-start', id: ours, phase: 'answer' })
    }
    return ours
  }
  const close = (kind: 'text' | 'reasoning', part: { id: string, providerMetadata?: SharedV4ProviderMetadata }) => {
    const ours = parts[kind].get(part.id)
    if (ours === undefined) return
    append({ type: `${kind}-end`, id: ours, ...meta(part) })
    parts[kind].delete(part.id)
  }
  const callId = (id: string) => {
    let ours = calls.get(id)
    if (ours === undefined) calls.set(id, ours = ids.call(id))
    return ours
  }

  return {
    result,
    write (part: LanguageModelV4StreamPart) {
      bytes += PART_BYTES + lengthOf(part)
      if (bytes > LONGEST_ANSWER) throw new AnswerTooLong()
      switch (part.type) {
        case 'text-delta': return append({ type: 'text-delta', id: open('text', part.id), delta: part.delta })
        case 'reasoning-delta': return append({ type: 'reasoning-delta', id: open('reasoning', part.id), delta: part.delta })
        case 'text-start': open('text', part.id); return
        case 'reasoning-start': open('reasoning', part.id); return
        case 'text-end': return close('text', part)
        case 'reasoning-end': return close('reasoning', part)
        case 'tool-input-start':
          if (!part.providerExecuted) append({ type: 'tool-input-start', toolCallId: callId(part.id), toolName: part.toolName })
          return
        case 'tool-input-delta':
          if (calls.has(part.id)) append({ type: 'tool-input-delta', toolCallId: callId(part.id), delta: part.delta })
          return
        case 'tool-call': {
          if (part.providerExecuted) return
          if (result.calls.length === MOST_CALLS) throw new TooManyCalls()
          const announced = calls.has(part.toolCallId)
          const toolCallId = callId(part.toolCallId)
          if (!announced) append({ type: 'tool-input-start', toolCallId, toolName: part.toolName })
          result.calls.push({ toolCallId, toolName: part.toolName, input: part.input, ...meta(part) })
          // The next call with this id, also in this step, is another call.
          calls.delete(part.toolCallId)
          return
        }
        case 'finish':
          // The answer is whole: what a server leaves out here is no reason to lose it.
          result.finishReason = part.finishReason?.unified ?? 'other'
          result.usage = { inputTokens: count(part.usage?.inputTokens), outputTokens: count(part.usage?.outputTokens) }
      }
    }
  }
}

const count = (tokens: { total?: unknown } | undefined): number => Number.isSafeInteger(tokens?.total) ? tokens!.total as number : 0

const lengthOf = (part: LanguageModelV4StreamPart) => 'delta' in part ? part.delta.length : part.type === 'tool-call' ? part.input.length : 0

const meta = ({ providerMetadata }: { providerMetadata?: SharedV4ProviderMetadata }) => providerMetadata ? { providerMetadata } : {}

export type IdSource = ReturnType<typeof createIdSource>

/** Ids of parts and calls, unique within a run, going on from what its log and its history already hold. */
export function createIdSource (events: readonly RunEvent[], prompt: LanguageModelV4Prompt) {
  let parts = events.filter(({ type }) => type === 'text-start' || type === 'reasoning-start').length
  const taken = new Set<string>()
  for (const event of events) if (event.type === 'tool-input-start') taken.add(event.toolCallId)
  for (const { role, content } of prompt) {
    if (role === 'assistant') for (const part of content) if (part.type === 'tool-call') taken.add(part.toolCallId)
  }

  return {
    part: (kind: string) => `${kind}-${++parts}`,
    call (id: string) {
      let unique = id
      for (let n = 2; taken.has(unique); n++) unique = `${id}-${n}`
      taken.add(unique)
      return unique
    }
  }
}
