import { newId } from '../../../lib/ids.ts'
import { isObject, readJson } from '../../../lib/json.ts'
import { notAnAnswer, unreadable } from '../bounded-fetch.ts'
import { BROKE_OFF, isBrokenEnd } from '../check-part.ts'
import { errorIn, ProviderError, readErrorWords } from '../error-words.ts'
import { countOf, inputOf, numberOf, objectOf, objectsOf, textOf, wordsOf } from './fields.ts'
import type { AnswerForm, Fields, StreamReader } from './lenient-fetch.ts'

/** An item of the response's output. */
interface Item {
  type: unknown
  id: string
  callId: string
  name: string
  input: string
  hasText: boolean
  isBegun: boolean
  isDone: boolean
}

const ENDS: Record<string, string> = {
  'response.completed': 'response.completed',
  'response.done': 'response.completed',
  'response.incomplete': 'response.incomplete'
}
/** Events with thoughts. Servers of open models send the first one. OpenAI sends the second one, with a summary of the thoughts. */
const THOUGHTS = ['response.reasoning_text.delta', 'response.reasoning_summary_text.delta']
const ABOUT_THOUGHTS = ['response.reasoning_summary_part.added', 'response.reasoning_summary_part.done']

function readUsage (value: unknown): Fields | undefined {
  const usage = objectOf(value)
  const [input, output] = [countOf(usage?.input_tokens), countOf(usage?.output_tokens)]
  if (usage === undefined || (input === undefined && output === undefined)) return undefined
  const inputDetails = objectOf(usage.input_tokens_details)
  const outputDetails = objectOf(usage.output_tokens_details)
  return {
    input_tokens: input ?? 0,
    output_tokens: output ?? 0,
    ...(inputDetails && {
      input_tokens_details: {
        ...withCount('cached_tokens', inputDetails.cached_tokens),
        ...withCount('cache_write_tokens', inputDetails.cache_write_tokens)
      }
    }),
    ...(outputDetails && { output_tokens_details: withCount('reasoning_tokens', outputDetails.reasoning_tokens) })
  }
}

const withCount = (name: string, value: unknown) => {
  const count = countOf(value)
  return count === undefined ? {} : { [name]: count }
}

/** Returns the fields that the last event of a response carries. */
function readEnd (value: unknown): Fields {
  const response = objectOf(value) ?? {}
  const reason = wordsOf(objectOf(response.incomplete_details)?.reason)
  const context = wordsOf(objectOf(response.reasoning)?.context)
  return {
    incomplete_details: reason === undefined ? undefined : { reason },
    usage: readUsage(response.usage),
    reasoning: context === undefined ? undefined : { context },
    service_tier: wordsOf(response.service_tier)
  }
}

/** Returns the text of a message. */
const textIn = (content: unknown): string =>
  typeof content === 'string' ? content : objectsOf(content).map(({ text, refusal }) => textOf(text) ?? textOf(refusal) ?? '').join('')

/** Throws if a response reports that it failed. */
function refuseFailed (value: unknown): void {
  const response = objectOf(value) ?? {}
  const words = readErrorWords(response.error)
  if (words !== undefined) throw new ProviderError(words)
  if (isBrokenEnd({ raw: wordsOf(response.status) })) throw new Error(BROKE_OFF)
}

/** Creates the reader of a stream of OpenAI's Responses API, https://platform.openai.com/docs/api-reference/responses-streaming. */
function createStream (): StreamReader {
  const items = new Map<number, Item>()
  let isCreated = false
  let isEnded = false

  /**
   * Returns the position of the item that an event names. If the event names none, returns the position of the last item, or with `isNew`
   * the position after it.
   */
  function positionOf ({ output_index: index, item_id: id, item }: Fields, isNew = false): number {
    const given = numberOf(index)
    if (given !== undefined) return given
    const name = wordsOf(id) ?? wordsOf(objectOf(item)?.id) ?? wordsOf(objectOf(item)?.call_id)
    const known = [...items].findLast(([, each]) => name !== undefined && (each.id === name || each.callId === name))?.[0]
    if (known !== undefined) return known
    const last = Math.max(-1, ...items.keys())
    return isNew || last === -1 ? last + 1 : last
  }

  function create (given: unknown): Fields[] {
    if (isCreated) return []
    isCreated = true
    const response = objectOf(given) ?? {}
    return [{
      type: 'response.created',
      response: {
        id: wordsOf(response.id) ?? newId(),
        created_at: numberOf(response.created_at) ?? 0,
        model: textOf(response.model) ?? '',
        service_tier: wordsOf(response.service_tier)
      }
    }]
  }

  /** Begins an item at a position, unless the item there has begun. A call waits until its name is known. */
  function begin (index: number, given: Fields): Fields[] {
    const { type, call_id: callId, name } = given
    let item = items.get(index)
    if (item === undefined || item.isDone) {
      const id = wordsOf(given.id) ?? wordsOf(callId) ?? newId()
      item = { type, id, callId: wordsOf(callId) ?? id, name: '', input: '', hasText: false, isBegun: false, isDone: false }
      items.set(index, item)
    }
    item.name ||= textOf(name) ?? ''
    if (item.isBegun || (type === 'function_call' && item.name === '')) return []
    item.isBegun = true
    const read = { ...given, id: item.id }
    const added = (fields: Fields) => [{ type: 'response.output_item.added', output_index: index, item: fields }]
    if (type === 'message') return added({ type, id: item.id, phase: phaseOf(given.phase) })
    if (type === 'reasoning') return added({ type, id: item.id, encrypted_content: wordsOf(given.encrypted_content) })
    if (type !== 'function_call') return added(read)
    return added({ ...read, call_id: item.callId, name: item.name, arguments: '' })
  }

  function append (index: number, kind: 'message' | 'reasoning', text: string): Fields[] {
    if (text === '') return []
    const before = items.get(index)?.type === kind ? begin(index, { type: kind }) : begin(index = positionOf({}, true), { type: kind })
    const item = items.get(index)!
    item.hasText = true
    const where = { item_id: item.id, output_index: index, delta: text }
    return [
      ...before,
      kind === 'message'
        ? { type: 'response.output_text.delta', ...where }
        : { type: 'response.reasoning_summary_text.delta', summary_index: 0, ...where }
    ]
  }

  function extendCall (value: Fields): Fields[] {
    const index = positionOf(value)
    const item = items.get(index)
    const delta = inputOf(value.delta)
    if (item?.type !== 'function_call' || delta === '') return []
    item.input += delta
    return item.isBegun ? [{ type: 'response.function_call_arguments.delta', item_id: item.id, output_index: index, delta }] : []
  }

  function finishItem (index: number, given: Fields): Fields[] {
    const known = items.get(index)
    const type = given.type ?? known?.type
    const isAgain = known?.isDone === true && known.type === type && (wordsOf(given.call_id) ?? known.callId) === known.callId
    const before = isAgain ? [] : begin(index, { ...given, type })
    const item = items.get(index)!
    const texts = type === 'message' && !item.hasText ? append(index, 'message', textIn(given.content)) : []
    item.isDone = true
    const done = (fields: Fields) => [{ type: 'response.output_item.done', output_index: index, item: fields }]
    if (type === 'message') return isAgain ? [] : [...before, ...texts, ...done({ type, id: item.id, phase: phaseOf(given.phase) })]
    if (type === 'reasoning') {
      return isAgain ? [] : [...before, ...done({ type, id: item.id, encrypted_content: wordsOf(given.encrypted_content) })]
    }
    if (type !== 'function_call') return [...before, ...done({ ...given, id: item.id })]
    const input = inputOf(given.arguments) || item.input || '{}'
    // The input of this call did not arrive in pieces.
    const piece = isAgain || item.input !== ''
      ? []
      : [{ type: 'response.function_call_arguments.delta', item_id: item.id, output_index: index, delta: input }]
    item.input = input
    return [
      ...before,
      ...piece,
      ...done({ ...given, id: item.id, call_id: item.callId, name: textOf(given.name) || item.name, arguments: input, status: 'completed' })
    ]
  }

  const open = () => [...items].filter(([, { isDone }]) => !isDone)
  const isWhole = () =>
    [...items.values()].some(({ type, hasText }) => type === 'function_call' || hasText) &&
    open().every(([, { type, input, name }]) => type !== 'function_call' || (name !== '' && isObject(readJson(input || '{}'))))

  function finish (type: string, given: unknown): Fields[] {
    if (isEnded) return []
    refuseFailed(given)
    // A server that sends only the end of a stream sends the whole answer with it.
    const output = items.size > 0 ? [] : objectsOf(objectOf(given)?.output ?? []).flatMap((item, index) => finishItem(index, item))
    isEnded = true
    return [...output, ...open().flatMap(([index]) => finishItem(index, {})), { type, response: readEnd(given) }]
  }

  function take (value: Fields, event?: string): Fields[] {
    const type: string | undefined = typeof value.type === 'string' ? value.type : event
    const error = errorIn(value, { event, isAnswer: type !== undefined || objectOf(value.response) !== undefined })
    if (error !== undefined) throw error
    const end = type === undefined ? undefined : ENDS[type]
    if (end !== undefined) return [...create(value.response), ...finish(end, value.response)]
    switch (type) {
      case 'response.created':
        return create(value.response)
      case 'response.in_progress':
        return [...create(value.response), { type, response: { id: '', created_at: 0, model: '' } }]
      case 'response.failed':
      case 'response.cancelled':
        refuseFailed({ status: 'failed', ...objectOf(value.response) })
        throw new Error(BROKE_OFF)
      case 'response.output_item.added':
        return typeof objectOf(value.item)?.type === 'string' ? begin(positionOf(value, true), value.item) : []
      case 'response.output_item.done':
        return objectOf(value.item) === undefined ? [] : finishItem(positionOf(value, true), value.item)
      case 'response.output_text.delta':
        return append(positionOf(value), 'message', textOf(value.delta) ?? '')
      case 'response.output_text.done':
        return items.get(positionOf(value))?.hasText ? [] : append(positionOf(value), 'message', textOf(value.text) ?? '')
      case 'response.refusal.delta': {
        const index = positionOf(value)
        const [before, item] = [begin(index, { type: 'message' }), items.get(index)!]
        item.hasText = true
        return [...before, { type, item_id: item.id, output_index: index, delta: textOf(value.delta) ?? '' }]
      }
      case 'response.function_call_arguments.delta':
        return extendCall(value)
      case 'response.function_call_arguments.done': {
        const item = items.get(positionOf(value))
        return item?.type === 'function_call' && item.input === '' ? extendCall({ ...value, delta: value.arguments }) : []
      }
      default:
        return takeOther(type, value)
    }
  }

  function takeOther (type: string | undefined, value: Fields): Fields[] {
    if (type === undefined) return []
    if (!THOUGHTS.includes(type) && !ABOUT_THOUGHTS.includes(type)) return [value]
    const index = positionOf(value)
    const item = items.get(index)
    const summaryIndex = numberOf(value.summary_index) ?? 0
    if (ABOUT_THOUGHTS.includes(type)) {
      return item?.type === 'reasoning' ? [{ type, item_id: item.id, output_index: index, summary_index: summaryIndex }] : []
    }
    const appended = append(index, 'reasoning', textOf(value.delta) ?? '')
    return appended.map((each) => each.type === THOUGHTS[1] ? { ...each, summary_index: summaryIndex } : each)
  }

  return {
    take,
    takeDocument (value) {
      const response = objectOf(value.response) ?? value
      const error = errorIn(response, { isAnswer: Array.isArray(response.output) })
      if (error !== undefined) throw error
      if (!Array.isArray(response.output)) throw notAnAnswer()
      return [...create(response), ...finish('response.completed', response)]
    },
    end: (isDone) => isDone && isWhole() ? finish('response.completed', undefined) : []
  }
}

const phaseOf = (phase: unknown) => phase === 'commentary' || phase === 'final_answer' ? phase : undefined

function readItem (item: Fields): Fields[] {
  const { type } = item
  const id = wordsOf(item.id) ?? newId()
  if (type === 'message') {
    const content = typeof item.content === 'string' ? [{ type: 'output_text', text: item.content }] : objectsOf(item.content)
    return [{
      type,
      id,
      role: 'assistant',
      phase: phaseOf(item.phase),
      content: content.map(({ text, refusal, annotations }) =>
        refusal === undefined
          ? { type: 'output_text', text: textOf(text) ?? '', annotations: Array.isArray(annotations) ? annotations : [] }
          : { type: 'refusal', refusal: textOf(refusal) ?? '' }
      )
    }]
  }
  if (type === 'function_call') {
    const input = inputOf(item.arguments) || '{}'
    return [{ ...item, id, call_id: wordsOf(item.call_id) ?? id, name: textOf(item.name) ?? '', arguments: input }]
  }
  if (type === 'reasoning') {
    const summary = objectsOf(item.summary ?? []).map(({ text }) => ({ type: 'summary_text', text: textOf(text) ?? '' }))
    return [{ type, id, encrypted_content: wordsOf(item.encrypted_content), summary }]
  }
  return typeof type === 'string' ? [item] : []
}

export const RESPONSES_ANSWERS: AnswerForm = {
  createStream,
  readWhole (value) {
    const error = errorIn(value, { isAnswer: Array.isArray(value.output) })
    if (error !== undefined) throw error
    if (!Array.isArray(value.output)) throw unreadable()
    return {
      ...readEnd(value),
      id: wordsOf(value.id),
      created_at: numberOf(value.created_at),
      model: wordsOf(value.model),
      output: objectsOf(value.output ?? []).flatMap(readItem)
    }
  },
  join: (values) => objectOf(values.findLast(({ type }) => Object.hasOwn(ENDS, String(type)))?.response) ?? values[0]
}
