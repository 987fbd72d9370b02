import { ERROR_STATUS } from '../../../../schemas/error-codes.ts'
import type { ChatCompletion, ChatCompletionChunk, ChatError, ChatUsage } from '../../../../schemas/openai.ts'
import type { Usage } from '../../../../schemas/usage.ts'
import { type EventOf, isHeld, type RunEvent } from '../../../contracts/run-events.ts'
import type { ServiceError } from '../../../lib/service-error.ts'
import { addUsage, noUsage } from '../../../usage/index.ts'
import { toError } from '../../engine/attempt.ts'
import type { Encoder } from '../encoder.ts'
import { chatError } from './chat-errors.ts'
import { type ChatRequest, note } from './chat-request.ts'

type Choice = ChatCompletionChunk['choices'][number]
type Delta = Choice['delta']

/** The fields that every chunk of an answer has, and the facts that decide how events become chunks. */
export interface ChatAnswer {
  runId: string
  /** The model or agent that the request named. */
  model: string
  /** Seconds since the Unix epoch. */
  created: number
  request: Pick<ChatRequest, 'tools' | 'object' | 'mustCall' | 'fields'>
  /** The run continues with results of its calls, so the usage of its earlier steps belongs to an earlier answer. */
  isContinued: boolean
  withUsage: boolean
}

const idOf = ({ runId }: Pick<ChatAnswer, 'runId'>) => `chatcmpl-${runId}`
const BETTER = 'a review found that the calls of this answer contradict it, and asked for another version, which they contradict less:'
const BROKE_OFF = 'the answer broke off here and was asked for again. What stands before this line does not count.'
/** The part of the error message of a run that gave no object (services/runs/answers/take-answer.ts). */
const NO_OBJECT = 'gave no object that fits options.object.schema'
const NOT_CALLED = 'tool_choice asks for a call of a tool, and the model made none.'
const inOneLine = (names: Iterable<string>) => [...new Set(names)].join(', ')

/**
 * Returns a function that converts each event of one answer to chunks: the text of all steps with an empty line between them, reasoning as
 * `reasoning_content`, and calls of the caller's tools when they are handed out. Calls of the service's own tools are not shown. A note at
 * the end says which calls were refused because nobody could be asked, and which wait.
 */
export function createChatReader ({ runId, model, created, request, isContinued, withUsage }: ChatAnswer) {
  const { tools, object, mustCall, fields } = request
  const denied: string[] = []
  const waiting: string[] = []
  let calls = 0
  let hasText = false
  let isNewText = false
  let stepHasText = false
  let used = noUsage()
  /** The text of the newest step, the text with which the model refused to answer, and the text of a step that a limit cut off. */
  let stepText = ''
  let refusal: string | undefined
  let cutText: string | undefined

  const chunk = (delta: Delta, finish: Choice['finish_reason'] = null): ChatCompletionChunk => ({
    id: idOf({ runId }),
    object: 'chat.completion.chunk',
    created,
    model,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }]
  })
  /**
   * Returns a note of the service as a chunk. If the answer is an object, the note is reasoning, because the content must be only the
   * object.
   */
  const aside = (text: string): ChatCompletionChunk[] =>
    object === undefined ? textChunks(`${hasText ? '\n\n' : ''}${note(text)}`) : [chunk({ reasoning_content: `\n${note(text)}` })]
  const textChunks = (content: string): ChatCompletionChunk[] => {
    hasText = stepHasText = true
    return [chunk({ content })]
  }
  const call = (id: string, name: string, input: unknown): ChatCompletionChunk =>
    chunk({ tool_calls: [{ index: calls++, id, type: 'function', function: { name, arguments: JSON.stringify(input) } }] })

  function textOf ({ delta }: EventOf<'text-delta'>): ChatCompletionChunk[] {
    stepText += delta
    if (object !== undefined || delta === '') return []
    const opening = isNewText && hasText ? '\n\n' : ''
    isNewText = false
    return textChunks(opening + delta)
  }

  function last ({ finishReason, stopped, usage }: EventOf<'finish'>): ChatCompletionChunk[] {
    const notes = [
      ...denied.length > 0 ? [`not done, because it needs the approval of a person, and nobody is asked here: ${inOneLine(denied)}.`] : [],
      ...waiting.length > 0 ? [`this waits for a person or an application, outside of this conversation: ${inOneLine(waiting)}.`] : [],
      ...mustCall && calls === 0 ? [NOT_CALLED] : []
    ]
    const isFiltered = finishReason === 'content-filter' || stopped?.reason === 'refused'
    const isCut = stopped !== undefined || finishReason === 'length' || (finishReason === 'error' && cutText !== undefined)
    const end = isFiltered ? 'content_filter' : isCut ? 'length' : 'stop'
    return [
      ...notes.flatMap(aside),
      chunk({}, calls > 0 && object === undefined ? 'tool_calls' : end),
      ...withUsage ? [{ ...chunk({}), choices: [], usage: chatUsage(isContinued ? used : usage) }] : []
    ]
  }

  /**
   * Returns the chunks of a failure. If no object came because the model refused or a limit cut the answer, the answer is sent instead of
   * an error, because clients of OpenAI handle these two cases.
   */
  function failed (event: EventOf<'error'>): Array<ChatCompletionChunk | ChatError> {
    const isNoObject = event.code === 'ERR_OBJECT_INVALID'
    if (isNoObject && refusal !== undefined) return [chunk({ refusal })]
    if (isNoObject && cutText !== undefined) return cutText === '' ? [] : [chunk({ content: cutText })]
    const { message: error, code, details } = chatFailureOf(event, object?.toolName)
    return [chatError({ error, code, statusCode: ERROR_STATUS[code], details }, fields)]
  }

  return (event: RunEvent): Array<ChatCompletionChunk | ChatError> => {
    if (isHeld(event)) return []
    switch (event.type) {
      case 'start':
        return [chunk({ role: 'assistant', content: '' })]
      case 'step-start':
        stepHasText = false
        stepText = ''
        return []
      case 'step-finish':
        used = addUsage(used, event.usage)
        cutText = event.finishReason === 'length' ? stepText : undefined
        if (event.finishReason === 'content-filter') refusal = stepText || 'The model refuses to answer.'
        return []
      case 'reasoning-delta':
        return event.delta === '' ? [] : [chunk({ reasoning_content: event.delta })]
      case 'text-start':
        isNewText = true
        return []
      case 'text-delta':
        return textOf(event)
      case 'retry':
        return stepHasText ? aside(BROKE_OFF) : []
      case 'revision':
        return [chunk({ reasoning_content: `\n${note(BETTER)}\n${event.text}` })]
      case 'notice':
        return [chunk({ reasoning_content: `\n${note(event.text)}` })]
      case 'tool-call-request':
        if (tools.includes(event.toolName)) return [call(event.toolCallId, event.toolName, event.input)]
        waiting.push(event.toolName)
        return []
      case 'approval-request':
        waiting.push(event.toolName)
        return []
      case 'question-request':
        waiting.push(...event.questions.map(({ text }) => text))
        return []
      case 'tool-denied':
        denied.push(event.toolName)
        return []
      case 'object':
        if (object?.toolName !== undefined) return [call(`call_${runId}`, object.toolName, event.object)]
        return textChunks(JSON.stringify(event.object))
      case 'error':
        return failed(event)
      case 'abort':
        return event.reason === 'shutdown'
          ? [chatError({ error: 'The service is shutting down.', code: 'ERR_INTERRUPTED', statusCode: 500 })]
          : aside('this was stopped.')
      case 'finish':
        return last(event)
      default:
        return []
    }
  }
}

/** Returns the failure of a run. `forced` is the name of the tool that had to be called. */
export const chatFailureOf = (event: EventOf<'error'>, forced?: string): ServiceError => toError(forced === undefined
  ? event
  : {
      ...event,
      errorText: event.errorText.replace(NO_OBJECT, `made no call of ${forced} that its parameters allow, and tool_choice asks for one`)
    })

const chatUsage = ({ inputTokens, outputTokens, cachedInputTokens, reasoningTokens }: Usage): ChatUsage => ({
  prompt_tokens: inputTokens,
  completion_tokens: outputTokens,
  total_tokens: inputTokens + outputTokens,
  prompt_tokens_details: { cached_tokens: cachedInputTokens },
  completion_tokens_details: { reasoning_tokens: reasoningTokens }
})

const asTextEvents = ({ text }: EventOf<'revision'>): RunEvent[] =>
  [{ type: 'text-start', id: 'revision' }, { type: 'text-delta', id: 'revision', delta: text }]

/** Creates the encoder of a streamed answer: one `data:` line for each chunk, then `data: [DONE]`. */
export function createChatEncoder (answer: ChatAnswer): Encoder {
  const read = createChatReader(answer)
  return {
    headers: {},
    render: (events) => events.flatMap(read).map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join(''),
    end: 'data: [DONE]\n\n'
  }
}

/**
 * Returns the chunks of a complete answer, or of the failure with which its run ended. If the second version of an answer counts, its text
 * replaces the first version.
 */
export function readChunks (all: readonly RunEvent[], answer: Omit<ChatAnswer, 'withUsage'>): Array<ChatCompletionChunk | ChatError> {
  const revision = all.findLast((event) => event.type === 'revision')
  const isText = ({ type }: RunEvent) => type.startsWith('text-') || type === 'revision'
  const events = revision === undefined
    ? all
    : all.flatMap((event) => event === revision ? asTextEvents(revision) : isText(event) ? [] : [event])
  return events.flatMap(createChatReader({ ...answer, withUsage: true }))
}

/** Merges the chunks of an answer into one object, as a client of the stream would. */
export function completionOf (
  chunks: readonly ChatCompletionChunk[],
  answer: Pick<ChatAnswer, 'runId' | 'model' | 'created'>
): ChatCompletion {
  const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta))
  const textOf = (field: 'content' | 'reasoning_content' | 'refusal') => deltas.map((delta) => delta[field] ?? '').join('')
  const toolCalls = deltas.flatMap(({ tool_calls: each = [] }) => each.map(({ index, ...call }) => call))
  const reasoning = textOf('reasoning_content')
  const refusal = textOf('refusal') || null
  return {
    id: idOf(answer),
    object: 'chat.completion',
    created: answer.created,
    model: answer.model,
    choices: [{
      index: 0,
      message: {
        role: 'assistant',
        content: textOf('content') || (toolCalls.length > 0 || refusal !== null ? null : ''),
        refusal,
        ...reasoning !== '' && { reasoning_content: reasoning },
        ...toolCalls.length > 0 && { tool_calls: toolCalls }
      },
      logprobs: null,
      finish_reason: chunks.flatMap(({ choices }) => choices[0]?.finish_reason ?? []).at(-1) ?? 'stop'
    }],
    usage: chunks.findLast(({ usage }) => usage != null)?.usage ?? chatUsage(noUsage())
  }
}
