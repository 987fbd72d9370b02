import type { ProviderError } from '../error-words.ts'
import { errorIn } from '../error-words.ts'
import { countOf, inputOf, listOf, numberOf, objectOf, objectsOf, textOf, wordsOf } from '../lenient-answers/fields.ts'

/** A piece of a tool call. */
export interface CallPiece {
  /** The index of the choice that the call belongs to. */
  choice: number
  index?: number
  id?: string
  name?: string
  /** The next piece of the arguments, JSON text. */
  input: string
  /** The signature that Google's models attach to a call. */
  thoughtSignature?: string
}

export interface TextPiece {
  block: 'text' | 'reasoning'
  text: string
}

/** The content that a chunk adds to one choice. */
export interface Delta {
  choice: number
  pieces: TextPiece[]
  refusal?: string
  calls: CallPiece[]
  finishReason?: string
  /** True if it is a whole message, not a piece of one. */
  isWhole: boolean
}

export interface Usage {
  prompt?: number
  completion?: number
  cached?: number
  reasoning?: number
  accepted?: number
  rejected?: number
  raw: Record<string, any>
}

/** The fields of an event of a chat completion that the service uses, https://platform.openai.com/docs/api-reference/chat-streaming. */
export interface Chunk {
  id?: string
  created?: number
  model?: string
  deltas: Delta[]
  usage?: Usage
}

/**
 * Parses one event, or a whole completion. Fields that the service does not use can have any form. A used field can have any form that has
 * only one meaning.
 */
export function readChunk (value: Record<string, any>, event?: string): Chunk | ProviderError {
  const choices = objectsOf(value.choices)
  const error = errorIn(value, { event, isAnswer: choices.length > 0 || objectOf(value.message) !== undefined })
  if (error !== undefined) return error
  return {
    id: wordsOf(value.id),
    created: numberOf(value.created),
    model: wordsOf(value.model),
    deltas: choices.map(readChoice),
    usage: readUsage(value.usage)
  }
}

function readChoice (choice: Record<string, any>, position: number): Delta {
  const delta = objectOf(choice.delta) ?? {}
  const message = objectOf(choice.message)
  const isWhole = message !== undefined && Object.keys(delta).length === 0
  const { content = choice.text, refusal, reasoning_content: thought, reasoning, tool_calls: calls, function_call: call } = isWhole
    ? message
    : delta
  const thoughts = thoughtsOf(thought) || thoughtsOf(reasoning)
  const number = numberOf(choice.index) ?? position
  return {
    choice: number,
    pieces: [...thoughts === '' ? [] : [{ block: 'reasoning' as const, text: thoughts }], ...textsOf(content)],
    ...(typeof refusal === 'string' && refusal !== '' && { refusal }),
    calls: [...objectsOf(calls), ...objectsOf(call)].map((each) => readPiece(each, number)),
    finishReason: wordsOf(choice.finish_reason),
    isWhole
  }
}

function readPiece (piece: Record<string, any>, choice: number): CallPiece {
  // Some servers leave out the object around name and arguments.
  const { name, arguments: given, parameters, input = parameters } = objectOf(piece.function) ?? piece
  return {
    choice,
    index: numberOf(piece.index),
    id: wordsOf(piece.id),
    name: textOf(name)?.trim() || undefined,
    input: inputOf(given ?? input),
    thoughtSignature: wordsOf(objectOf(objectOf(piece.extra_content)?.google)?.thought_signature)
  }
}

/** Returns the texts and thoughts of a `content`, which Mistral sends as a list. */
function textsOf (content: unknown): TextPiece[] {
  if (!Array.isArray(content) && objectOf(content) === undefined) {
    const text = textOf(content) ?? ''
    return text === '' ? [] : [{ block: 'text', text }]
  }
  return (Array.isArray(content) ? content : [content]).flatMap((part): TextPiece[] => {
    const { type, text, thinking } = objectOf(part) ?? { text: part }
    if (type === 'thinking') return [{ block: 'reasoning' as const, text: thoughtsOf(thinking) }].filter(({ text }) => text !== '')
    return type === undefined || type === 'text' || type === 'output_text' ? textsOf(textOf(text)) : []
  })
}

/** Returns the text of thoughts, which come as a text or a list of texts. Other forms cannot be shown. */
const thoughtsOf = (value: unknown): string =>
  typeof value === 'string' ? value : listOf(value).map((part) => textOf(objectOf(part)?.text ?? part) ?? '').join('')

function readUsage (value: unknown): Usage | undefined {
  const usage = objectOf(value)
  if (usage === undefined) return undefined
  const input = objectOf(usage.prompt_tokens_details) ?? {}
  const output = objectOf(usage.completion_tokens_details) ?? {}
  const prompt = countOf(usage.prompt_tokens)
  const completion = countOf(usage.completion_tokens)
  if (prompt === undefined && completion === undefined) return undefined
  return {
    prompt,
    completion,
    cached: countOf(input.cached_tokens),
    reasoning: countOf(output.reasoning_tokens),
    accepted: countOf(output.accepted_prediction_tokens),
    rejected: countOf(output.rejected_prediction_tokens),
    raw: usage
  }
}
