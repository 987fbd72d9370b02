import type { LanguageModelV4Prompt, LanguageModelV4StreamPart, SharedV4ProviderMetadata } from '@ai-sdk/provider'
import { readJson } from '../../lib/json.ts'
import { newId } from '../../lib/ids.ts'
import { defineError } from '../../lib/service-error.ts'
import { callMeant } from '../../tools/index.ts'
import { USE_TOOL } from '../../contracts/model-texts.ts'
import type { Usage } from '../../../schemas/usage.ts'
import type { FinishReason, OpenPart, RunEvent, StepMarks } from '../../contracts/run-events.ts'
import { createLoopingText } from './looping-text.ts'
import { noUsage, tokensReported } from '../../usage/index.ts'
import { createAnswerText, createMetadata, isPortableId, type OfferedTools, type TextPiece } from '../../models/index.ts'

/** The maximum number of tool calls in one answer; a model that makes more is in a loop. */
const MAX_CALLS = 128
/** The maximum size of one answer, bytes. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024
/** The size of a part apart from its content, bytes. */
const PART_BYTES = 64

/** Characters of a call that cannot be read which the model is shown. */
const UNREAD_SHOWN = 2_000
/** Why the text of an answer is dropped that its template began with a thought. */
const WAS_THOUGHT = 'What came as the answer was thinking.'

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

export interface StepResult extends StepMarks {
  calls: ToolCall[]
  finishReason: FinishReason
  usage: Usage
  /** The calls whose inputs have begun and not ended. */
  cut: Array<Pick<ToolCall, 'toolCallId' | 'toolName'>>
}

/**
 * Converts the parts of one model call to events, and collects the result for the loop. Part ids are numbered through the run
 * and tool call ids are made unique in it, because providers repeat both. Metadata that providers attach to a part is kept with
 * it, marked with the model. The calls are held in memory until the step ends, so an answer that is too long or makes too many
 * calls is refused: `write` throws AnswerTooLong or TooManyCalls. `offered` is what calls as text may name; `toolMeant` returns the
 * name of the tool that a model means, of some only with the input; `isAnswered` says whether the user or the application answers calls
 * of a tool.
 */
export function createStepWriter ({ step, append, ids, offered, toolMeant, isAnswered }: {
  step: number,
  append: (event: RunEvent) => void,
  ids: IdSource,
  offered: OfferedTools | undefined,
  toolMeant: (name: string, input?: string) => string | undefined,
  isAnswered: (toolName: string) => boolean
}) {
  const parts = { text: new Map<string, PartBegun>(), reasoning: new Map<string, PartBegun>() }
  const calls = new Map<string, string>()
  /** The names of calls that have begun, by the provider's ids, whose tool is known only by their input: those of USE_TOOL and others. */
  const unnamed = new Map<string, string>()
  const isLooping = createLoopingText()
  /** The texts under way, by the provider's ids. */
  const texts = new Map<string, { part: Part, reader: ReturnType<typeof createAnswerText>, shown: string }>()
  /** The calls that were written as text. They follow the others, which some servers send beside them. */
  const asText: Array<Extract<TextPiece, { kind: 'call' }>> = []
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
    if (isLooping(delta)) result.isLooping = true
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

  const beginText = ({ id, providerMetadata }: Part) => {
    const text = { part: { id, providerMetadata }, reader: createAnswerText(offered), shown: '' }
    texts.set(id, text)
    return text
  }
  /** What came as text was thinking: it is dropped and comes again as such, unless calls came with it. */
  function turnIntoThought (part: Part, shown: string, model: string) {
    if (calls.size > 0 || result.calls.length > 0) return
    append({ type: 'retry', attempt: 1, reason: WAS_THOUGHT, dropped: begun.map(({ id }) => id), open: underWay() })
    append({ type: 'step-start', step })
    parts.text.clear()
    parts.reasoning.clear()
    begun.length = 0
    extend('reasoning', { id: part.id, delta: shown }, model)
  }

  /** Writes pieces of a text. */
  function writePieces (pieces: readonly TextPiece[], text: { part: Part, shown: string }, model: string) {
    const { part } = text
    for (const piece of pieces) {
      if (piece.kind !== 'reasoning' && piece.kind !== 'was-thought') close('reasoning', { id: part.id })
      switch (piece.kind) {
        case 'reasoning':
          extend('reasoning', { id: part.id, delta: piece.delta }, model)
          break
        case 'text':
          text.shown += piece.delta
          start('text', part, model)
          extend('text', { id: part.id, delta: piece.delta }, model)
          break
        case 'was-thought':
          turnIntoThought(part, text.shown, model)
          break
        case 'broken':
          extend('reasoning', { id: part.id, delta: piece.text }, model)
          result.unreadCall = piece.text.slice(0, UNREAD_SHOWN).toWellFormed()
          break
        case 'call':
          asText.push(piece)
      }
    }
  }
  function endText (id: string, model: string) {
    const text = texts.get(id)
    if (text === undefined) return
    const before = begun.length
    writePieces(text.reader.end(), text, model)
    close('reasoning', { id })
    // An empty text may have something attached.
    if (before === 0 && begun.length === 0 && asText.length === 0) start('text', text.part, model)
    texts.delete(id)
  }
  function writeCallsAsText (model: string) {
    for (const [n, { name, input }] of asText.entries()) {
      const isSent = result.calls.some((call) => call.toolName === toolMeant(name, input) && isSameJson(call.input, input))
      if (!isSent) writeCall({ toolCallId: `text-${n + 1}`, toolName: name, input }, model, true)
    }
  }
  function writeCall (
    { toolCallId: id, toolName: written, input: text, providerMetadata }: Omit<ToolCall, 'named' | 'isFromText'>,
    model: string,
    isFromText: boolean
  ) {
    if (result.calls.length === MAX_CALLS) throw new TooManyCalls()
    const known = calls.get(id)
    const named = toolMeant(written, text) ?? written
    const { toolName, input } = (named === USE_TOOL && callMeant(text, toolMeant)) || { toolName: named, input: text }
    const toolCallId = known ?? beginCall(id, toolName)
    unnamed.delete(id)
    // Chat clients get the input of such a call later, so the deltas must hold it.
    if (known === undefined && (isFromText || isAnswered(toolName))) append({ type: 'tool-input-delta', toolCallId, delta: input })
    // The id goes back to the model that gave it, and to no other.
    const isOwnId = !isFromText && toolCallId.startsWith(id) && !isPortableId(toolCallId)
    result.calls.push({
      toolCallId,
      toolName,
      input,
      ...createMetadata(model, { always: isOwnId })(providerMetadata),
      ...(named !== written && { named: written }),
      ...(isFromText && { isFromText })
    })
    // A later call with the same id is another call, even in this step.
    calls.delete(id)
  }

  const underWay = (): OpenPart[] => {
    const open = new Set([...parts.text.values(), ...parts.reasoning.values()].map(({ id }) => id))
    return begun.filter(({ kind, id }) => kind === 'call' || open.has(id))
  }
  const isOpen = (id: string) => [...calls.values()].includes(id)

  return {
    result,
    /** Returns what the answer so far consists of: all ids, and what readers take to be under way. A call is, until its step is settled. */
    broken: (): { dropped: string[], open: OpenPart[] } => ({ dropped: begun.map(({ id }) => id), open: underWay() }),
    /** Ends the answer where it is, without its calls. */
    cut () {
      for (const kind of ['text', 'reasoning'] as const) for (const id of [...parts[kind].keys()]) close(kind, { id })
      result.calls = []
      result.cut = begun.flatMap((each) => each.kind === 'call' ? [{ toolCallId: each.id, toolName: each.toolName }] : [])
    },
    /** Writes a part of the answer of `model` (`<provider>/<model>`). */
    write (part: LanguageModelV4StreamPart, model: string) {
      bytes += PART_BYTES + lengthOf(part)
      if (bytes > MAX_ANSWER_BYTES) throw new AnswerTooLong()
      switch (part.type) {
        case 'text-delta': {
          const text = texts.get(part.id) ?? beginText(part)
          writePieces(text.reader.take(part.delta), text, model)
          if (part.providerMetadata !== undefined) extend('text', { ...part, delta: '' }, model)
          return
        }
        case 'reasoning-delta':
          return extend('reasoning', part, model)
        case 'text-start':
          if (!texts.has(part.id)) beginText(part)
          return
        case 'reasoning-start':
          return start('reasoning', part, model)
        case 'text-end':
          endText(part.id, model)
          return close('text', part)
        case 'reasoning-end':
          return close('reasoning', part)
        case 'tool-input-start':
          if (part.providerExecuted) return
          if ((toolMeant(part.toolName) ?? USE_TOOL) === USE_TOOL) unnamed.set(part.id, part.toolName)
          else beginCall(part.id, part.toolName)
          return
        case 'tool-input-delta': {
          const toolCallId = calls.get(part.id)
          if (toolCallId !== undefined) append({ type: 'tool-input-delta', toolCallId, delta: part.delta })
          return
        }
        case 'tool-call':
          return part.providerExecuted ? undefined : writeCall(part, model, false)
        case 'finish':
          for (const id of [...texts.keys()]) endText(id, model)
          writeCallsAsText(model)
          // The answer is complete, so missing fields here must not fail it.
          result.finishReason = result.calls.some(({ isFromText }) => isFromText) ? 'tool-calls' : part.finishReason?.unified ?? 'other'
          result.usage = tokensReported(part.usage)
          if (part.finishReason?.raw === 'pause_turn') result.isPaused = true
          for (const [id, name] of unnamed) beginCall(id, name)
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

/** Whether two inputs say the same. */
const isSameJson = (one: string, other: string): boolean => JSON.stringify(readJson(one)) === JSON.stringify(readJson(other))

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
