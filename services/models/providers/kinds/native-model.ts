import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Prompt } from '@ai-sdk/provider'
import { type Need, NEEDS, readNeed, withNeeds } from '../../request/request-needs.ts'
import type { AnswerMode } from '../bounded-fetch.ts'
import { withWarnings } from '../part-batches.ts'
import { leftOut, TOOL_CHOICE_REFUSED } from './adapt-request.ts'
import type { ModelCalls } from './provider-kind.ts'
import { type AdaptedTo, OF_WHOLE_ANSWERS, type RefusablePart, repeatAdapted } from './repeat-adapted.ts'

type Options = LanguageModelV4CallOptions

/** Parts of a call that a provider might refuse. */
const REFUSABLE: ReadonlyArray<RefusablePart<Options>> = [
  {
    // Anthropic's API requires a limit for the answer. The SDK sends the model's maximum, for which the context window might have no room.
    refusal: /max_tokens.*(?:exceed context limit|maximum allowed)/i,
    without (options, words) {
      const room = roomIn(words)
      return room === undefined || room >= (options.maxOutputTokens ?? Infinity) ? undefined : { ...options, maxOutputTokens: room }
    }
  },
  {
    // Other servers with this API, such as vLLM, accept the tool choice `auto` only if they are started with a parser for tool calls.
    refusal: TOOL_CHOICE_REFUSED,
    key: ({ toolChoice }) => toolChoice?.type === 'auto' ? 'tool choice' : undefined,
    without: ({ toolChoice, ...options }) => toolChoice?.type === 'auto' ? options : undefined
  },
  {
    // Not every model takes every effort, and the SDK does not know all models.
    refusal: /reasoning|thinking|effort/i,
    without: ({ reasoning, ...options }) => reasoning === undefined ? undefined : options
  },
  {
    // All call ids become portable, even those that the server itself generated.
    refusal: /(?:tool_use|tool_call|call)[._]?id|\.id\b.*pattern/i,
    without: (options) => NEEDS['portable-ids'].isMet(options) ? undefined : NEEDS['portable-ids'].apply(options)
  },
  {
    // Data that the provider attached to earlier answers is valid for the same account only, and for a limited time.
    refusal: /encrypted.content|signature|thinking|reasoning|\bitem\b/i,
    without: (options) => options.prompt.some(hasAttached) ? { ...options, prompt: options.prompt.map(withoutAttached) } : undefined
  }
]
/** The fewest tokens that must be left for the answer. With less room, the conversation is too long. */
const SMALLEST_ROOM = 1_024

/**
 * Returns the longest answer, in tokens, that the message of a refusal allows ("188240 + 21333 > 200000", "128000 > 64000"); undefined if
 * that is less than SMALLEST_ROOM.
 */
function roomIn (words: string): number | undefined {
  const [, input = '0', most] = /(?:(\d+) \+ )?\d+ > (\d+)/.exec(words) ?? []
  const room = Number(most) - Number(input)
  return room >= SMALLEST_ROOM ? room : undefined
}

const REFUSAL_STATUS = [400, 404, 422]

interface NativeModel {
  /** Creates the SDK's model with the `fetch` of a mode. */
  open: (mode: AnswerMode) => LanguageModelV4
  /** Adapts the options of every call. */
  prepare: (options: Options) => Options
  to: AdaptedTo
}

/**
 * Returns the functions that call a model with the SDK's package for its API. If the provider refuses a part of a call, the call is
 * repeated without that part, or in the form that the message asks for.
 */
export function nativeModel ({ open, prepare, to }: NativeModel): ModelCalls {
  const whole = open('answer')
  const streamed = open('events')
  const adapting = <T>(options: Options, call: (options: Options) => PromiseLike<T>, rules: { except?: Need } = {}): Promise<T> =>
    repeatAdapted<Options, T>({
      ...rules,
      parts: REFUSABLE,
      to,
      readRefusal,
      nextNeeds: (words, needed, hasPart) => hasPart ? [] : needsIn(words, withNeeds(options, needed)),
      send: (needed, strip) => call(strip(prepare(withNeeds(options, needed))))
    })
  return {
    doGenerate: (options) => adapting(options, (accepted) => whole.doGenerate(accepted), OF_WHOLE_ANSWERS),
    async doStream (options) {
      let sent = options
      const result = await adapting(options, (accepted) => streamed.doStream(sent = accepted))
      return withWarnings(result, leftOut(to.needs, options, sent))
    }
  }
}

function readRefusal (error: unknown): string | undefined {
  const { statusCode = 0, message, responseBody } = error as { statusCode?: number, message?: string, responseBody?: string }
  return REFUSAL_STATUS.includes(statusCode) ? `${message} ${responseBody}` : undefined
}

/** Returns the needs of the model that the message of a refusal shows. */
function needsIn (words: string, sent: Options): Need[] {
  if (TOOL_CHOICE_REFUSED.test(words) && !NEEDS['tools-in-words'].isMet(sent)) return ['tools-in-words']
  const named = readNeed(words, sent)
  return named === undefined ? [] : [named]
}

type Message = LanguageModelV4Prompt[number]

const hasAttached = (message: Message) =>
  message.role === 'assistant' && message.content.some((part) => part.type === 'reasoning' || part.providerOptions !== undefined)

function withoutAttached (message: Message): Message {
  if (message.role !== 'assistant') return message
  return {
    ...message,
    content: message.content.flatMap((part) => {
      if (part.type === 'reasoning' || part.type === 'reasoning-file') return []
      const { providerOptions: _attached, ...rest } = part
      return [rest]
    })
  }
}
