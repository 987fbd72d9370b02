import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart, LanguageModelV4StreamResult } from '@ai-sdk/provider'
import { jsonOfFixed } from '../../../lib/json.ts'
import { tokensInSame, tokensOf } from '../../token-estimate.ts'
import type { LearnedNeeds } from '../learned-limits.ts'
import { type BatchedResult, batchesOf, streamOf } from '../part-batches.ts'

/** Tools of fewer tokens than this cannot be distinguished from the error of the estimate. */
const FEWEST_TOKENS = 500
/** The range of the tokens that servers count for a prompt without tools, as factors of our estimate: their vocabularies differ. */
const MESSAGES = { least: 0.5, most: 1.3 }
/** Tokens that a chat template adds to each prompt. The template of firefunction describes functions even if there are none. */
const PREAMBLE = 500

/** The server did not show the tools of a request to the model. */
export class ToolsUnseen extends Error {
  readonly code = 'ERR_TOOLS_UNSEEN'
  /** The end of the answer, with the usage that the server reports for it. */
  readonly finish: Finish

  constructor (finish: Finish) {
    super('the server left out the tools of the request')
    this.finish = finish
  }
}

type Finish = Extract<LanguageModelV4StreamPart, { type: 'finish' }>

/**
 * Returns the answer with a check at its end. If the server counts too few input tokens to have read the tools of the request, the answer
 * fails with ToolsUnseen, and the need `tools-in-words` is noted. Many chat templates leave out tools, and their servers do not report it.
 */
export function withToolsSeen (
  result: LanguageModelV4StreamResult,
  { prompt, tools = [], abortSignal = new AbortController().signal }: LanguageModelV4CallOptions,
  { needs, windowInUse }: { needs: LearnedNeeds, windowInUse: (signal: AbortSignal) => Promise<number | undefined> }
): LanguageModelV4StreamResult {
  const toolTokens = tools.length === 0 ? 0 : tokensInSame(jsonOfFixed(tools))
  const messageTokens = prompt.reduce((sum, message) => sum + tokensOf(message), 0)
  // In a long conversation the error of the estimate exceeds the size of the tools.
  if (toolTokens < Math.max(FEWEST_TOKENS, messageTokens)) return result
  const { read, cancel } = batchesOf(result)
  let hasCalls = false
  const isUnseen = async (counted: number) => {
    if (counted < messageTokens * MESSAGES.least) return false
    const most = Math.max(messageTokens * MESSAGES.most, messageTokens + PREAMBLE)
    if (counted > Math.min(most, messageTokens + toolTokens / 4)) return false
    // A prompt that was cut to the window has few tokens, too.
    const window = await windowInUse(abortSignal).catch(() => undefined)
    return window === undefined || counted < window / 2
  }
  const batches: BatchedResult['batches'] = {
    async read () {
      const parts = await read()
      hasCalls ||= parts?.some(({ type }) => type === 'tool-input-start' || type === 'tool-call') ?? false
      const finish = parts?.find((part) => part.type === 'finish')
      if (parts === undefined || finish === undefined || hasCalls || !await isUnseen(finish.usage?.inputTokens?.total ?? 0)) return parts
      needs.note(['tools-in-words'])
      return [...parts.slice(0, parts.indexOf(finish)), { type: 'error', error: new ToolsUnseen(finish) }]
    },
    cancel
  }
  return { ...result, batches, stream: streamOf(batches) } as BatchedResult
}

/** Matches the message of a server (llama.cpp, Ollama, LM Studio) whose own parser found neither calls nor text in an answer. */
const UNREAD = /output that does not match the expected|(?:error|fail\w*) (?:in |to )?pars\w+ (?:the )?(?:tool|function)[ _-]?calls?/i

/** Counts successive answers in which the server of a model could not read the calls. */
export interface UnreadAnswers {
  count: number
}

/**
 * The number of unreadable answers in a row after which tools are described as text and the service parses the calls itself. Before that,
 * the model is asked again.
 */
const MOST_UNREAD = 2

/**
 * Returns the answer unchanged, and watches it for errors. If the model's server cannot parse MOST_UNREAD answers in a row, the need
 * `tools-in-words` is noted, so that later requests describe the tools as text. A weak model writes calls that the parser of its server
 * refuses.
 */
export function withCallsRead (
  result: LanguageModelV4StreamResult,
  { needs, unread }: { needs: LearnedNeeds, unread: UnreadAnswers }
): LanguageModelV4StreamResult {
  const { read, cancel } = batchesOf(result)
  const look = (error: unknown) => {
    if (!UNREAD.test((error as Error | undefined)?.message ?? '') || ++unread.count < MOST_UNREAD) return
    unread.count = 0
    needs.note(['tools-in-words'])
  }
  const batches: BatchedResult['batches'] = {
    async read () {
      try {
        const parts = await read()
        for (const part of parts ?? []) {
          if (part.type === 'error') look(part.error)
          if (part.type === 'finish') unread.count = 0
        }
        return parts
      } catch (error) {
        look(error)
        throw error
      }
    },
    cancel
  }
  return { ...result, batches, stream: streamOf(batches) } as BatchedResult
}
