import type { LanguageModelV4Prompt, LanguageModelV4StreamPart, SharedV4ProviderMetadata } from '@ai-sdk/provider'
import { isSameJson } from '../../lib/json.ts'
import { newId } from '../../lib/ids.ts'
import { defineError } from '../../lib/service-error.ts'
import { callMeant } from '../../tools/index.ts'
import { USE_TOOL } from '../../contracts/model-texts.ts'
import type { Usage } from '../../../schemas/usage.ts'
import type { FinishReason, OpenPart, RunEvent, StepMarks } from '../../contracts/run-events.ts'
import { createLoopingText } from './looping-text.ts'
import { noUsage, tokensReported } from '../../usage/index.ts'
import { createAnswerText, createMetadata, isPortableId, type OfferedTools, type TextPiece } from '../../models/index.ts'

/** The most tool calls in one answer. A model that makes more is stuck in a loop. */
const MAX_CALLS = 128
/** The maximum size of one answer, bytes. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024
/** The size that is counted for each part in addition to its content, bytes. */
const PART_BYTES = 64

/** The most characters of an unreadable call that are quoted to the model. */
const UNREAD_SHOWN = 2_000
/** The reason for dropping the text of an answer that turned out to be reasoning, because the chat template had begun it. */
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
  /** The name that the model wrote, if it differs from the name of the tool. */
  named?: string
  /** The call was written as text. The model might have meant only to show it. */
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
  /** The calls whose inputs have begun but not ended. */
  cut: Array<Pick<ToolCall, 'toolCallId' | 'toolName'>>
}

type PartOf<Type extends LanguageModelV4StreamPart['type']> = Extract<LanguageModelV4StreamPart, { type: Type }>

interface WriterParts {
  step: number
  append: (event: RunEvent) => void
  ids: IdSource
  /** The tools that calls written as text can name. */
  offered: OfferedTools | undefined
  /** Returns the name of the tool that a model means. For some names, this can be found only with the input of the call. */
  toolMeant: (name: string, input?: string) => string | undefined
  /** Whether the user or the application answers calls of a tool. */
  isAnswered: (toolName: string) => boolean
}

type Kind = 'text' | 'reasoning'

/** A text that has begun and not ended. */
interface TextBegun {
  part: Part
  reader: ReturnType<typeof createAnswerText>
  /** The part of the text that was appended as text, not as reasoning. */
  written: string
}

/** The answer as far as it has arrived. */
interface Writing extends WriterParts {
  /** The model of the newest part: `<provider>/<model>`. */
  model: string
  parts: Record<Kind, Map<string, PartBegun>>
  /** The ids of calls that have begun, by the ids of the provider. */
  calls: Map<string, string>
  /**
   * The names of calls that have begun but whose tool is known only when their input is complete, such as calls of USE_TOOL, by the ids of
   * the provider.
   */
  unnamed: Map<string, string>
  isLooping: (delta: string) => boolean
  /** The texts that have begun and not ended, by the ids of the provider. */
  texts: Map<string, TextBegun>
  /** The calls that were written as text. They are added last, because some servers send the same calls also as tool calls. */
  asText: Array<Extract<TextPiece, { kind: 'call' }>>
  /** All texts, reasoning parts and calls that have begun, in order. */
  begun: OpenPart[]
  bytes: number
  result: StepResult
}

/** Begins a part and returns it. */
function beginPart (writing: Writing, kind: Kind, { id, providerMetadata: attached }: Part): PartBegun {
  const { parts, ids, begun, append, model } = writing
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

function startPart (writing: Writing, kind: Kind, part: Part): void {
  if (!writing.parts[kind].has(part.id)) beginPart(writing, kind, part)
}

/** Appends a delta. If the part had no start event, it is begun here, because readers refuse deltas of unknown parts. */
function extendPart (writing: Writing, kind: Kind, { id, delta, providerMetadata }: Part & { delta: string }): void {
  const part = writing.parts[kind].get(id) ?? beginPart(writing, kind, { id })
  if (writing.isLooping(delta)) writing.result.isLooping = true
  const type = kind === 'text' ? 'text-delta' : 'reasoning-delta'
  const metadata = providerMetadata === undefined ? undefined : part.collect(providerMetadata)
  writing.append({ type, id: part.id, delta, ...metadata })
}

function closePart ({ parts, append }: Writing, kind: Kind, { id, providerMetadata }: Part): void {
  const part = parts[kind].get(id)
  if (part === undefined) return
  append({ type: kind === 'text' ? 'text-end' : 'reasoning-end', id: part.id, ...part.collect(providerMetadata) })
  parts[kind].delete(id)
}

/**
 * Begins a call and returns its id. A call that the user or the application answers gets an id that is unique everywhere, because the
 * ledger finds such a call by its id alone.
 */
function beginCall ({ calls, ids, begun, append, toolMeant, isAnswered }: Writing, id: string, named: string): string {
  const toolName = toolMeant(named) ?? named
  const unique = calls.get(id) ?? (isAnswered(toolName) ? newId() : ids.call(id))
  calls.set(id, unique)
  begun.push({ kind: 'call', id: unique, toolName })
  append({ type: 'tool-input-start', toolCallId: unique, toolName })
  return unique
}

function beginText ({ texts, offered }: Writing, { id, providerMetadata }: Part): TextBegun {
  const text = { part: { id, providerMetadata }, reader: createAnswerText(offered), written: '' }
  texts.set(id, text)
  return text
}

/** Drops a text that was in fact reasoning, and sends it again as reasoning, unless calls came with it. */
function turnIntoThought (writing: Writing, { part, written }: TextBegun): void {
  const { calls, result, append, begun, parts, step } = writing
  if (calls.size > 0 || result.calls.length > 0) return
  append({ type: 'retry', attempt: 1, reason: WAS_THOUGHT, dropped: begun.map(({ id }) => id), open: underWay(writing) })
  append({ type: 'step-start', step })
  parts.text.clear()
  parts.reasoning.clear()
  begun.length = 0
  extendPart(writing, 'reasoning', { id: part.id, delta: written })
}

function writePieces (writing: Writing, pieces: readonly TextPiece[], text: TextBegun): void {
  const { part } = text
  for (const piece of pieces) {
    if (piece.kind !== 'reasoning' && piece.kind !== 'was-thought') closePart(writing, 'reasoning', { id: part.id })
    switch (piece.kind) {
      case 'reasoning':
        extendPart(writing, 'reasoning', { id: part.id, delta: piece.delta })
        break
      case 'text':
        text.written += piece.delta
        startPart(writing, 'text', part)
        extendPart(writing, 'text', { id: part.id, delta: piece.delta })
        break
      case 'was-thought':
        turnIntoThought(writing, text)
        break
      case 'broken':
        extendPart(writing, 'reasoning', { id: part.id, delta: piece.text })
        writing.result.unreadCall = piece.text.slice(0, UNREAD_SHOWN).toWellFormed()
        break
      case 'call':
        writing.asText.push(piece)
    }
  }
}

function endText (writing: Writing, id: string): void {
  const { texts, begun, asText } = writing
  const text = texts.get(id)
  if (text === undefined) return
  const before = begun.length
  writePieces(writing, text.reader.end(), text)
  closePart(writing, 'reasoning', { id })
  // Even an empty text can have metadata attached.
  if (before === 0 && begun.length === 0 && asText.length === 0) startPart(writing, 'text', text.part)
  texts.delete(id)
}

function writeCall (
  writing: Writing,
  { toolCallId: id, toolName: written, input: text, providerMetadata }: Omit<ToolCall, 'named' | 'isFromText'>,
  isFromText: boolean
): void {
  const { result, calls, unnamed, toolMeant, append, isAnswered, model } = writing
  if (result.calls.length === MAX_CALLS) throw new TooManyCalls()
  const known = calls.get(id)
  const named = toolMeant(written, text) ?? written
  const { toolName, input } = (named === USE_TOOL && callMeant(text, toolMeant)) || { toolName: named, input: text }
  const toolCallId = known ?? beginCall(writing, id, toolName)
  unnamed.delete(id)
  // For such a call, chat clients take the input from the deltas, so one delta must contain it.
  if (known === undefined && (isFromText || isAnswered(toolName))) append({ type: 'tool-input-delta', toolCallId, delta: input })
  // An id of a provider's own form is sent back only to the model that gave it.
  const isOwnId = !isFromText && toolCallId.startsWith(id) && !isPortableId(toolCallId)
  result.calls.push({
    toolCallId,
    toolName,
    input,
    ...createMetadata(model, { always: isOwnId })(providerMetadata),
    ...(named !== written && { named: written }),
    ...(isFromText && { isFromText })
  })
  // Another call with the same id is a new call, even in this step.
  calls.delete(id)
}

function writeCallsAsText (writing: Writing): void {
  const { asText, result, toolMeant } = writing
  for (const [n, { name, input }] of asText.entries()) {
    const isSent = result.calls.some((call) => call.toolName === toolMeant(name, input) && isSameJson(call.input, input))
    if (!isSent) writeCall(writing, { toolCallId: `text-${n + 1}`, toolName: name, input }, true)
  }
}

/** Returns the parts and calls that are in progress for readers. A call is in progress until its step is settled. */
function underWay ({ parts, begun }: Writing): OpenPart[] {
  const open = new Set([...parts.text.values(), ...parts.reasoning.values()].map(({ id }) => id))
  return begun.filter(({ kind, id }) => kind === 'call' || open.has(id))
}

const begunCalls = ({ begun }: Writing, isCut: (id: string) => boolean): StepResult['cut'] =>
  begun.flatMap((each) => each.kind === 'call' && isCut(each.id) ? [{ toolCallId: each.id, toolName: each.toolName }] : [])

/** Ends the answer with the finish reason and the usage that the provider gives. */
function endAnswer (writing: Writing, { finishReason, usage }: PartOf<'finish'>): void {
  const { texts, result, unnamed, calls } = writing
  for (const id of [...texts.keys()]) endText(writing, id)
  writeCallsAsText(writing)
  // The answer is complete, so missing fields here must not fail it.
  result.finishReason = result.calls.some(({ isFromText }) => isFromText) ? 'tool-calls' : finishReason?.unified ?? 'other'
  result.usage = tokensReported(usage)
  if (finishReason?.raw === 'pause_turn') result.isPaused = true
  for (const [id, name] of unnamed) beginCall(writing, id, name)
  const open = new Set(calls.values())
  result.cut = begunCalls(writing, (id) => open.has(id))
}

/** Writes a part of the answer. */
function writePart (writing: Writing, part: LanguageModelV4StreamPart): void {
  writing.bytes += PART_BYTES + lengthOf(part)
  if (writing.bytes > MAX_ANSWER_BYTES) throw new AnswerTooLong()
  switch (part.type) {
    case 'text-delta': {
      const text = writing.texts.get(part.id) ?? beginText(writing, part)
      writePieces(writing, text.reader.take(part.delta), text)
      if (part.providerMetadata !== undefined) extendPart(writing, 'text', { ...part, delta: '' })
      return
    }
    case 'reasoning-delta':
      return extendPart(writing, 'reasoning', part)
    case 'text-start':
      if (!writing.texts.has(part.id)) beginText(writing, part)
      return
    case 'reasoning-start':
      return startPart(writing, 'reasoning', part)
    case 'text-end':
      endText(writing, part.id)
      return closePart(writing, 'text', part)
    case 'reasoning-end':
      return closePart(writing, 'reasoning', part)
    case 'tool-input-start':
      if (part.providerExecuted) return
      if ((writing.toolMeant(part.toolName) ?? USE_TOOL) === USE_TOOL) writing.unnamed.set(part.id, part.toolName)
      else beginCall(writing, part.id, part.toolName)
      return
    case 'tool-input-delta': {
      const toolCallId = writing.calls.get(part.id)
      if (toolCallId !== undefined) writing.append({ type: 'tool-input-delta', toolCallId, delta: part.delta })
      return
    }
    case 'tool-call':
      return part.providerExecuted ? undefined : writeCall(writing, part, false)
    case 'finish':
      return endAnswer(writing, part)
    default:
      // Other parts are not used.
  }
}

/**
 * Converts the stream parts of one model call to events, and collects the result of the call. Part ids are numbered through the run, and
 * tool call ids are made unique in it, because providers repeat both. Metadata that a provider attaches to a part is kept with the part,
 * marked with the model. The tool calls are held in memory until the step ends, so `write` throws AnswerTooLong or TooManyCalls for an
 * answer that is too long or makes too many calls.
 */
export function createStepWriter (collaborators: WriterParts) {
  const writing: Writing = {
    ...collaborators,
    model: '',
    parts: { text: new Map(), reasoning: new Map() },
    calls: new Map(),
    unnamed: new Map(),
    isLooping: createLoopingText(),
    texts: new Map(),
    asText: [],
    begun: [],
    bytes: 0,
    result: { calls: [], finishReason: 'other', usage: noUsage(), cut: [] }
  }
  const { result, begun, parts } = writing

  return {
    result,
    /** Returns the ids of all parts and calls so far, and those that are in progress for readers. */
    broken: (): { dropped: string[], open: OpenPart[] } => ({ dropped: begun.map(({ id }) => id), open: underWay(writing) }),
    /** Ends the answer at this point, without its calls. */
    cut () {
      for (const kind of ['text', 'reasoning'] as const) for (const id of [...parts[kind].keys()]) closePart(writing, kind, { id })
      result.calls = []
      result.cut = begunCalls(writing, () => true)
    },
    write (part: LanguageModelV4StreamPart, model: string): void {
      writing.model = model
      writePart(writing, part)
    }
  }
}

const lengthOf = (part: LanguageModelV4StreamPart) =>
  ('delta' in part ? part.delta.length : part.type === 'tool-call' ? part.input.length : 0) +
  ('providerMetadata' in part && part.providerMetadata ? JSON.stringify(part.providerMetadata).length : 0)

export type IdSource = ReturnType<typeof createIdSource>

/** Makes ids for parts and calls that differ from all ids in the log and the prompt of the run. */
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
