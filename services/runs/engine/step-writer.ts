import type { LanguageModelV4Prompt, LanguageModelV4StreamPart, SharedV4ProviderMetadata } from '@ai-sdk/provider'
import { newId } from '../../lib/ids.ts'
import { defineError } from '../../lib/service-error.ts'
import { createTaggedText, type TextPiece } from './tagged-text.ts'
import { callMeant } from '../../tools/index.ts'
import { USE_TOOL } from '../../contracts/model-texts.ts'
import type { Usage } from '../../../schemas/usage.ts'
import type { FinishReason, OpenPart, RunEvent } from '../../contracts/run-events.ts'
import { noUsage, tokensReported } from '../../usage/index.ts'
import { createMetadata } from '../../models/index.ts'

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
interface ToolCall {
  toolCallId: string
  toolName: string
  input: string
  providerMetadata?: SharedV4ProviderMetadata
  /** The name that the model wrote, where it differs from the tool's. */
  named?: string
  /** It was written as text; the model may have meant to show it. */
  isFromText?: true
}

interface Part {
  id: string
  providerMetadata?: SharedV4ProviderMetadata
}
interface PartBegun {
  id: string
  collect: ReturnType<typeof createMetadata>
}

export interface StepResult {
  calls: ToolCall[]
  finishReason: FinishReason
  usage: Usage
  /** The calls whose inputs have begun and not ended. */
  cut: Array<Pick<ToolCall, 'toolCallId' | 'toolName'>>
  /** The provider paused the turn; see `step-finish`. */
  isPaused?: true
}

/**
 * Converts the parts of one model call to events, and collects the result for the loop. Part ids are numbered through the run
 * and tool call ids are made unique in it, because providers repeat both. Metadata that providers attach to a part is kept with
 * it, marked with the model. The calls are held in memory until the step ends, so an answer that is too long or makes too many
 * calls is refused: `write` throws AnswerTooLong or TooManyCalls. `toolMeant` returns the name of the tool
 * that a model means; `isAnswered` says whether the user or the application answers calls of a tool.
 */
export function createStepWriter ({ append, ids, toolMeant, isAnswered }: {
  append: (event: RunEvent) => void,
  ids: IdSource,
  toolMeant: (name: string) => string | undefined,
  isAnswered: (toolName: string) => boolean
}) {
  const parts = { text: new Map<string, PartBegun>(), reasoning: new Map<string, PartBegun>() }
  const calls = new Map<string, string>()
  /** The calls of USE_TOOL that have begun, by the provider's ids: what they call is known at their end. */
  const wrapped = new Set<string>()
  /** The first text of the answer, until it is known to be plain, and its part. */
  let tagged: ReturnType<typeof createTaggedText> | undefined = createTaggedText((name) => toolMeant(name) !== undefined)
  let taggedPart: Part | undefined
  /** All that was begun, in order. */
  const begun: OpenPart[] = []
  let bytes = 0
  const result: StepResult = { calls: [], finishReason: 'other', usage: noUsage(), cut: [] }

  /** Begins a part and returns it. `attached` is the provider's metadata so far. */
  const begin = (kind: 'text' | 'reasoning', id: string, model: string, attached: unknown): PartBegun => {
    const part = { id: ids.part(kind), collect: createMetadata(model, { always: kind === 'reasoning' }) }
    parts[kind].set(id, part)
    begun.push({ kind, id: part.id })
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
  const beginCall = (id: string, named: string) => {
    const toolName = toolMeant(named) ?? named
    const unique = calls.get(id) ?? (isAnswered(toolName) ? newId() : ids.call(id))
    calls.set(id, unique)
    begun.push({ kind: 'call', id: unique, toolName })
    append({ type: 'tool-input-start', toolCallId: unique, toolName })
    return unique
  }

  /** Writes pieces of the first text. */
  function writePieces (pieces: Iterable<TextPiece>, part: Part, model: string) {
    for (const piece of pieces) {
      if (piece.kind === 'reasoning') extend('reasoning', { id: part.id, delta: piece.delta }, model)
      else close('reasoning', { id: part.id })
      if (piece.kind === 'text') {
        start('text', part, model)
        extend('text', { id: part.id, delta: piece.delta }, model)
      }
      if (piece.kind === 'call') {
        const toolCallId = beginCall(`text-${part.id}`, piece.name)
        append({ type: 'tool-input-delta', toolCallId, delta: piece.input })
        result.calls.push({ toolCallId, toolName: toolMeant(piece.name)!, input: piece.input, isFromText: true })
        calls.delete(`text-${part.id}`)
      }
    }
  }
  function endTagged (model: string) {
    if (taggedPart !== undefined) {
      const before = begun.length
      writePieces(tagged?.end() ?? [], taggedPart, model)
      close('reasoning', { id: taggedPart.id })
      // An empty text may have something attached.
      if (before === 0 && begun.length === 0) start('text', taggedPart, model)
    }
    tagged = taggedPart = undefined
  }

  const isOpen = (id: string) => [...calls.values()].includes(id)

  return {
    result,
    /** Returns what the answer so far consists of: all ids, and what readers take to be under way. A call is, until its step is settled. */
    broken (): { dropped: string[], open: OpenPart[] } {
      const underWay = new Set([...parts.text.values(), ...parts.reasoning.values()].map(({ id }) => id))
      return { dropped: begun.map(({ id }) => id), open: begun.filter(({ kind, id }) => kind === 'call' || underWay.has(id)) }
    },
    /** Writes a part of the answer of `model` (`<provider>/<model>`). */
    write (part: LanguageModelV4StreamPart, model: string) {
      bytes += PART_BYTES + lengthOf(part)
      if (bytes > MAX_ANSWER_BYTES) throw new AnswerTooLong()
      switch (part.type) {
        case 'text-delta':
          if (tagged === undefined || (taggedPart !== undefined && taggedPart.id !== part.id)) return extend('text', part, model)
          taggedPart ??= { id: part.id }
          writePieces(tagged.take(part.delta), taggedPart, model)
          if (tagged.isPlain) tagged = undefined
          return
        case 'reasoning-delta':
          return extend('reasoning', part, model)
        case 'text-start':
          if (tagged === undefined || taggedPart !== undefined) return start('text', part, model)
          taggedPart = { id: part.id, providerMetadata: part.providerMetadata }
          return
        case 'reasoning-start':
          return start('reasoning', part, model)
        case 'text-end':
          if (part.id === taggedPart?.id) endTagged(model)
          return close('text', part)
        case 'reasoning-end':
          return close('reasoning', part)
        case 'tool-input-start':
          if (part.providerExecuted) return
          if (toolMeant(part.toolName) === USE_TOOL) wrapped.add(part.id)
          else beginCall(part.id, part.toolName)
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
          const named = toolMeant(part.toolName) ?? part.toolName
          const { toolName, input } = (named === USE_TOOL && callMeant(part.input, toolMeant)) || { toolName: named, input: part.input }
          const toolCallId = known ?? beginCall(part.toolCallId, toolName)
          wrapped.delete(part.toolCallId)
          // Chat clients get the input of such a call later, so the deltas must hold it.
          if (known === undefined && isAnswered(toolName)) append({ type: 'tool-input-delta', toolCallId, delta: input })
          const isOtherName = named !== part.toolName
          result.calls.push({
            toolCallId,
            toolName,
            input,
            ...createMetadata(model)(part.providerMetadata),
            ...(isOtherName && { named: part.toolName })
          })
          // A later call with the same id is another call, even in this step.
          calls.delete(part.toolCallId)
          return
        }
        case 'finish':
          endTagged(model)
          // The answer is complete, so missing fields here must not fail it.
          result.finishReason = result.calls.some(({ isFromText }) => isFromText) ? 'tool-calls' : part.finishReason?.unified ?? 'other'
          result.usage = tokensReported(part.usage)
          if (part.finishReason?.raw === 'pause_turn') result.isPaused = true
          for (const id of wrapped) beginCall(id, USE_TOOL)
          result.cut = begun.flatMap((each) =>
            each.kind === 'call' && isOpen(each.id) ? [{ toolCallId: each.id, toolName: each.toolName }] : []
          )
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
