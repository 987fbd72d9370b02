import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Prompt } from '@ai-sdk/provider'
import { NEEDS } from '../../request/request-needs.ts'
import type { AnswerMode } from '../bounded-fetch.ts'
import { TOOL_CHOICE_REFUSED } from './adapt-request.ts'
import type { ModelCalls } from './provider-kind.ts'

type Options = LanguageModelV4CallOptions

/**
 * Parts of a call that a provider may refuse. `refusal` matches the provider's message; `without` returns the options without
 * the part, or undefined when they do not have it.
 */
const REFUSABLE: Array<{ refusal: RegExp, without(options: Options, words: string): Options | undefined }> = [
  {
    // Anthropic's API requires a limit of the answer; the SDK sends the greatest of the model, for which its window may leave no room.
    refusal: /max_tokens.*(?:exceed context limit|maximum allowed)/i,
    without (options, words) {
      const room = roomIn(words)
      return room === undefined || room >= (options.maxOutputTokens ?? Infinity) ? undefined : { ...options, maxOutputTokens: room }
    }
  },
  {
    // Other servers with this API, such as vLLM, take no free choice unless they are started with a parser of calls.
    refusal: TOOL_CHOICE_REFUSED,
    without: ({ toolChoice, ...options }) => toolChoice?.type === 'auto' ? options : undefined
  },
  {
    // Not every model takes every effort, and the SDK does not know all models.
    refusal: /reasoning|thinking|effort/i,
    without: ({ reasoning, ...options }) => reasoning === undefined ? undefined : options
  },
  {
    // Ids of calls that a server gave itself.
    refusal: /(?:tool_use|tool_call|call)[._]?id|\.id\b.*pattern/i,
    without: (options) => NEEDS['portable-ids'].isMet(options) ? undefined : NEEDS['portable-ids'].apply(options)
  },
  {
    // Data that the provider attached to earlier answers is not valid for other accounts, and for a limited time.
    refusal: /encrypted.content|signature|thinking|reasoning|\bitem\b/i,
    without: (options) => options.prompt.some(hasAttached) ? { ...options, prompt: options.prompt.map(withoutAttached) } : undefined
  }
]
/** Tokens: with less room for the answer the conversation is too long. */
const SMALLEST_ROOM = 1_024

/** Returns the longest answer that a refusal leaves ("188240 + 21333 > 200000", "128000 > 64000"); undefined for too short a one. */
function roomIn (words: string): number | undefined {
  const [, input = '0', most] = /(?:(\d+) \+ )?\d+ > (\d+)/.exec(words) ?? []
  const room = Number(most) - Number(input)
  return room >= SMALLEST_ROOM ? room : undefined
}

const REFUSAL_STATUS = [400, 404, 422]

/**
 * Returns the calls of a provider's own SDK. `open` creates the SDK's model with the `fetch` of a mode, and `prepare` adapts the
 * options of every call. A call whose reasoning setting or attached data the provider refuses is repeated without it.
 */
export function nativeModel (open: (mode: AnswerMode) => LanguageModelV4, prepare: (options: Options) => Options): ModelCalls {
  const whole = open('answer')
  const streamed = open('events')
  return {
    doGenerate: (options) => withoutRefused(prepare(options), (accepted) => whole.doGenerate(accepted)),
    doStream: (options) => withoutRefused(prepare(options), (accepted) => streamed.doStream(accepted))
  }
}

async function withoutRefused<T> (options: Options, call: (options: Options) => PromiseLike<T>): Promise<T> {
  try {
    return await call(options)
  } catch (error) {
    const { statusCode = 0, message, responseBody } = error as { statusCode?: number, message?: string, responseBody?: string }
    if (!REFUSAL_STATUS.includes(statusCode)) throw error
    const words = `${message} ${responseBody}`
    for (const { refusal, without } of REFUSABLE) {
      const smaller = refusal.test(words) ? without(options, words) : undefined
      if (smaller !== undefined) return withoutRefused(smaller, call)
    }
    throw error
  }
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
