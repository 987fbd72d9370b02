import { newId } from '../../../lib/ids.ts'
import { isObject, readJson } from '../../../lib/json.ts'
import { notAnAnswer, unreadable } from '../bounded-fetch.ts'
import { errorIn } from '../error-words.ts'
import { countOf, inputOf, numberOf, objectOf, objectsOf, textOf, wordsOf } from './fields.ts'
import type { AnswerForm, Fields, StreamReader } from './lenient-fetch.ts'

interface Block {
  type: unknown
  /** The input that came with the beginning of a call. It counts if no pieces follow. */
  given: string
  /** The pieces of the input of a call. */
  input: string
}

/** The types of deltas, and the field that holds the text of each. */
const PIECES = { text_delta: 'text', thinking_delta: 'thinking', input_json_delta: 'partial_json', signature_delta: 'signature' } as const
/** Types of deltas that are passed on unchanged. */
const OTHER_PIECES = ['citations_delta', 'compaction_delta']

/** Returns a usage with its token counts as numbers and its other fields unchanged. The count `needed` is 0 if it is absent. */
function readUsage (value: unknown, needed: 'input_tokens' | 'output_tokens'): Fields {
  const usage = objectOf(value) ?? {}
  const counts = ['input_tokens', 'output_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens']
  const read = Object.fromEntries(counts.map((name) => [name, countOf(usage[name])]))
  const details = objectOf(usage.output_tokens_details)
  return {
    ...usage,
    ...read,
    [needed]: read[needed] ?? 0,
    service_tier: wordsOf(usage.service_tier),
    output_tokens_details: details && { thinking_tokens: countOf(details.thinking_tokens) },
    iterations: Array.isArray(usage.iterations) ? usage.iterations : undefined
  }
}

/** Creates the reader of a stream of Anthropic's Messages API, https://docs.anthropic.com/en/api/messages-streaming. */
function createStream (): StreamReader {
  const blocks = new Map<number, Block>()
  let isStarted = false
  let isStopped = false
  let hasContent = false
  let hasCalls = false
  let areCallsWhole = true
  let reason: string | undefined
  let next = 0

  function start (given: unknown = {}): Fields[] {
    if (isStarted) return []
    isStarted = true
    const message = objectOf(given) ?? {}
    return [{
      type: 'message_start',
      message: {
        ...message,
        id: wordsOf(message.id),
        model: wordsOf(message.model),
        role: 'assistant',
        service_tier: wordsOf(message.service_tier),
        usage: readUsage(message.usage, 'input_tokens'),
        content: undefined,
        stop_reason: undefined
      }
    }]
  }

  function open (index: number, given: Fields): Fields[] {
    const { type = 'text', text, thinking, signature, id, name, input } = given
    const before = blocks.has(index) ? stop(index) : []
    next = Math.max(next, index + 1)
    const block: Block = { type, given: type === 'tool_use' && !isEmptyInput(input) ? inputOf(input) : '', input: '' }
    blocks.set(index, block)
    const begin = (content: Fields): Fields[] => [...before, { type: 'content_block_start', index, content_block: content }]
    if (type === 'text') return [...begin({ type, text: '' }), ...piece(index, 'text_delta', text)]
    if (type === 'thinking') {
      return [
        ...begin({ type, thinking: '' }),
        ...piece(index, 'thinking_delta', thinking),
        ...piece(index, 'signature_delta', signature)
      ]
    }
    hasContent = true
    if (type !== 'tool_use') return begin(given)
    hasCalls = true
    return begin({ ...given, id: wordsOf(id) ?? newId(), name: textOf(name) ?? '', input: {} })
  }

  function piece (index: number, type: keyof typeof PIECES, value: unknown): Fields[] {
    const text = type === 'input_json_delta' ? inputOf(value) : textOf(value) ?? ''
    if (text === '') return []
    hasContent ||= type === 'text_delta'
    return [{ type: 'content_block_delta', index, delta: { type, [PIECES[type]]: text } }]
  }

  function extend (given: unknown, delta: Fields): Fields[] {
    const named = OTHER_PIECES.includes(delta.type) || Object.hasOwn(PIECES, delta.type) ? delta.type : undefined
    const type = named ?? (Object.keys(PIECES) as Array<keyof typeof PIECES>).find((each) => delta[PIECES[each]] !== undefined)
    if (type === undefined) return []
    const isInput = type === 'input_json_delta'
    let index = numberOf(given) ?? lastOpen(isInput)
    if (isInput && blocks.get(index ?? -1)?.type !== 'tool_use') index = lastOpen(true)
    if (index === undefined && isInput) return []
    index ??= next
    const before = blocks.has(index) ? [] : open(index, { type: type === 'text_delta' ? 'text' : 'thinking' })
    if (OTHER_PIECES.includes(type)) return [...before, { type: 'content_block_delta', index, delta }]
    const pieces = piece(index, type, delta[PIECES[type as keyof typeof PIECES]])
    if (isInput) for (const { delta: { partial_json: input } } of pieces) blocks.get(index)!.input += input
    return [...before, ...pieces]
  }

  const lastOpen = (isCall: boolean): number | undefined =>
    [...blocks].findLast(([, { type }]) => !isCall || type === 'tool_use')?.[0]

  function stop (given: unknown): Fields[] {
    const index = numberOf(given) ?? lastOpen(false)
    const block = index === undefined ? undefined : blocks.get(index)
    if (index === undefined || block === undefined) return []
    blocks.delete(index)
    const input = block.input || block.given
    areCallsWhole &&= block.type !== 'tool_use' || input === '' || isObject(readJson(input))
    return [...block.input === '' ? piece(index, 'input_json_delta', block.given) : [], { type: 'content_block_stop', index }]
  }

  function change (value: Fields): Fields[] {
    const delta = objectOf(value.delta) ?? {}
    reason = wordsOf(delta.stop_reason) ?? wordsOf(value.stop_reason) ?? reason
    const usage = readUsage(value.usage, 'output_tokens')
    return [{ ...value, delta: { ...delta, stop_reason: reason, stop_sequence: wordsOf(delta.stop_sequence) }, usage }]
  }

  /** Ends an answer that is complete. */
  function finish (): Fields[] {
    if (isStopped) return []
    isStopped = true
    const closed = [...blocks.keys()].flatMap(stop)
    const ended = reason === undefined
      ? change({ type: 'message_delta', delta: { stop_reason: hasCalls ? 'tool_use' : 'end_turn' } })
      : []
    return [...closed, ...ended, { type: 'message_stop' }]
  }

  function take (value: Fields, event?: string): Fields[] {
    const type = typeof value.type === 'string' ? value.type : event
    const error = errorIn(value, { event, isAnswer: type !== undefined })
    if (error !== undefined) throw error
    switch (type) {
      case 'message_start':
        return start(value.message)
      case 'content_block_start':
        return [...start(), ...open(numberOf(value.index) ?? next, objectOf(value.content_block) ?? {})]
      case 'content_block_delta':
        return [...start(), ...extend(value.index, objectOf(value.delta) ?? {})]
      case 'content_block_stop':
        return stop(value.index)
      case 'message_delta':
        return [...start(), ...change({ ...value, type })]
      case 'message_stop':
        return hasContent || reason !== undefined ? finish() : []
      default:
        return []
    }
  }

  return {
    take,
    takeDocument (value) {
      const error = errorIn(value, { isAnswer: Array.isArray(value.content) })
      if (error !== undefined) throw error
      if (!Array.isArray(value.content)) throw notAnAnswer()
      return [
        ...start(value),
        ...objectsOf(value.content).flatMap((block, index) => [...open(index, block), ...stop(index)]),
        ...change({ type: 'message_delta', delta: { stop_reason: value.stop_reason }, usage: value.usage }),
        ...finish()
      ]
    },
    end (isDone) {
      if (reason !== undefined) return finish()
      const open = [...blocks.values()].every(({ type, input }) => type !== 'tool_use' || input === '' || isObject(readJson(input)))
      return isDone && hasContent && open && areCallsWhole ? finish() : []
    }
  }
}

const isEmptyInput = (input: unknown) => input == null || input === '' || (isObject(input) && Object.keys(input).length === 0)

/** Returns a content block in the form that the SDK accepts; an empty list for a block without a type. */
function readBlock (block: Fields): Fields[] {
  const { type, text, thinking, signature, id, name, input } = block
  if (type === 'text') return [{ ...block, text: textOf(text) ?? '' }]
  if (type === 'thinking') return [{ type, thinking: textOf(thinking) ?? '', signature: textOf(signature) ?? '' }]
  if (type !== 'tool_use') return typeof type === 'string' ? [block] : []
  const read = typeof input === 'string' ? readJson(input) : input
  return [{ ...block, id: wordsOf(id) ?? newId(), name: textOf(name) ?? '', input: read ?? {} }]
}

export const ANTHROPIC_ANSWERS: AnswerForm = {
  createStream,
  readWhole (value) {
    const error = errorIn(value, { isAnswer: Array.isArray(value.content) })
    if (error !== undefined) throw error
    if (!Array.isArray(value.content)) throw unreadable()
    return {
      ...value,
      type: 'message',
      id: wordsOf(value.id),
      model: wordsOf(value.model),
      content: objectsOf(value.content).flatMap(readBlock),
      stop_reason: wordsOf(value.stop_reason),
      stop_sequence: wordsOf(value.stop_sequence),
      usage: { ...readUsage(value.usage, 'input_tokens'), output_tokens: readUsage(value.usage, 'output_tokens').output_tokens }
    }
  }
}
