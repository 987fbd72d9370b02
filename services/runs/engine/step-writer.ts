import type { LanguageModelV4Prompt, LanguageModelV4StreamPart, SharedV4ProviderMetadata } from '@ai-sdk/provider'
import { newId } from '../../lib/ids.ts'
import { defineError } from '../../lib/service-error.ts'
import type { Usage } from '../../../schemas/usage.ts'
import type { FinishReason, RunEvent } from '../../contracts/run-events.ts'
import { noUsage, tokensReported } from '../../usage/index.ts'
import { attachedTo, createMetadata } from '../../models/index.ts'

/** The maximum number of tool calls in one answer; a model that makes more is in a loop. */
const MAX_CALLS = 128
/** The maximum size of one answer, bytes. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024
/** The size of a part apart from its content, bytes. */
const PART_BYTES = 64

const AnswerTooLong = defineError(
  'ERR_RUN_TOO_LONG',
  "The model's answer, with the inputs of its calls, grew beyond 16 MiB and was stopped."

)
const TooManyCalls = defineError(
  'ERR_TOO_MANY_CALLS',
  `The model made more than ${MAX_CALLS} tool calls at once and was stopped; none of them was carried out.`

)

/** A tool call of the model, with its input as JSON text. */
export interface ToolCall {
  toolCallId: string
  toolName: string
  input: string
  providerMetadata?: SharedV4ProviderMetadata
}

interface Part {
  id: string
  providerMetadata?: SharedV4ProviderMetadata
}
interface OpenPart {
  id: string
  collect: ReturnType<typeof createMetadata>
}

export interface StepResult {
  calls: ToolCall[]
  finishReason: FinishReason
  usage: Usage
}

/**
 * Converts the parts of one model call to events, and collects the result for the loop. Part ids are numbered through the run
 * and tool call ids are made unique in it, because providers repeat both. Metadata that providers attach to a part is kept with
 * it, marked with the model. The calls are held in memory until the step ends, so an answer that is too long or makes too many
 * calls is refused: `write` throws AnswerTooLong or TooManyCalls. `isAnswered` says whether the user or the application answers calls
 * of a tool.
 */
export function createStepWriter ({ append, ids, isAnswered = () => false }: {
  append: (event: RunEvent) => void,
  ids: IdSource,
  isAnswered?: (toolName: string) => boolean
}) {
  const parts = { text: new Map<string, OpenPart>(), reasoning: new Map<string, OpenPart>() }
  const calls = new Map<string, string>()
  let bytes = 0
  const result: StepResult = { calls: [], finishReason: 'other', usage: noUsage() }

  /** Begins a part and returns it. `attached` is the provider's metadata so far. */
  const begin = (kind: 'text' | 'reasoning', id: string, model: string, attached: unknown): OpenPart => {
    const part = { id: ids.part(kind), collect: createMetadata(model, { always: kind === 'reasoning' }) }
    parts[kind].set(id, part)
    const metadata = part.collect(attached)
    append(
      kind === 'text'
        ? { type: 'text-start', id: part.id, ...metadata }
        : { type: 'reasoning-start', id: part.id, phase: 'answer', ...metadata }
    )
    return part
  }
  const start = (kind: 'text' | 'reasoning', { id, providerMetadata }: Part, model: string) => {
    if (!parts[kind].has(id)) begin(kind, id, model, providerMetadata)
  }
  /** Appends a delta. A part without a start event begins here, because readers refuse deltas of unknown parts. */
  const extend = (kind: 'text' | 'reasoning', { id, delta, providerMetadata }: Part & { delta: string }, model: string) => {
    const part = parts[kind].get(id) ?? begin(kind, id, model, undefined)
    const type = kind === 'text' ? 'text-delta' : 'reasoning-delta'
    append(providerMetadata === undefined ? { type, id: part.id, delta } : { type, id: part.id, delta, ...part.collect(providerMetadata) })
  }
  const close = (kind: 'text' | 'reasoning', { id, providerMetadata }: Part) => {
    const part = parts[kind].get(id)
    if (part === undefined) return
    append({ type: `${kind}-end`, id: part.id, ...part.collect(providerMetadata) })
    parts[kind].delete(id)
  }
  /** The ledger finds a call that the user or the application answers by its id alone, so that id is unique everywhere. */
  const beginCall = (id: string, toolName: string) => {
    const unique = calls.get(id) ?? (isAnswered(toolName) ? newId() : ids.call(id))
    calls.set(id, unique)
    append({ type: 'tool-input-start', toolCallId: unique, toolName })
    return unique
  }

  return {
    result,
    /** Writes a part of the answer of `model` (`<provider>/<model>`). */
    write (part: LanguageModelV4StreamPart, model: string) {
      bytes += PART_BYTES + lengthOf(part)
      if (bytes > MAX_ANSWER_BYTES) throw new AnswerTooLong()
      switch (part.type) {
        case 'text-delta':
          return extend('text', part, model)
        case 'reasoning-delta':
          return extend('reasoning', part, model)
        case 'text-start':
          return start('text', part, model)
        case 'reasoning-start':
          return start('reasoning', part, model)
        case 'text-end':
          return close('text', part)
        case 'reasoning-end':
          return close('reasoning', part)
        case 'tool-input-start':
          if (!part.providerExecuted) beginCall(part.id, part.toolName)
          return
        case 'tool-input-delta': {
          const toolCallId = calls.get(part.id)
          if (toolCallId !== undefined) append({ type: 'tool-input-delta', toolCallId, delta: part.delta })
          return
        }
        case 'tool-call': {
          if (part.providerExecuted) return
          if (result.calls.length === MAX_CALLS) throw new TooManyCalls()
          const known = calls.get(part.toolCallId)
          const toolCallId = known ?? beginCall(part.toolCallId, part.toolName)
          // Chat clients get the input of such a call later, so the deltas must hold it.
          if (known === undefined && isAnswered(part.toolName)) append({ type: 'tool-input-delta', toolCallId, delta: part.input })
          result.calls.push({ toolCallId, toolName: part.toolName, input: part.input, ...attachedTo(part.providerMetadata, model) })
          // A later call with the same id is another call, even in this step.
          calls.delete(part.toolCallId)
          return
        }
        case 'finish':
          // The answer is complete, so missing fields here must not fail it.
          result.finishReason = part.finishReason?.unified ?? 'other'
          result.usage = tokensReported(part.usage)
          break
        default:
          // Other parts are not used.
      }
    }
  }
}

const lengthOf = (part: LanguageModelV4StreamPart) =>
  ('delta' in part ? part.delta.length : part.type === 'tool-call' ? part.input.length : 0) +
  ('providerMetadata' in part && part.providerMetadata ? JSON.stringify(part.providerMetadata).length : 0)

export type IdSource = ReturnType<typeof createIdSource>

/** Makes ids of parts and calls that are unique within a run, including the ids in its log and in its prompt. */
export function createIdSource (events: readonly RunEvent[], prompt: LanguageModelV4Prompt) {
  let parts = events.filter(({ type }) => type === 'text-start' || type === 'reasoning-start').length
  const taken = new Set<string>()
  for (const event of events) if (event.type === 'tool-input-start') taken.add(event.toolCallId)
  for (const { role, content } of prompt) {
    if (role === 'assistant') { for (const part of content) if (part.type === 'tool-call') taken.add(part.toolCallId) }
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
