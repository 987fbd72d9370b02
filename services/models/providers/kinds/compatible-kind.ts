import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { withOneSystemMessage } from '../../caching.ts'
import { mergeTurns, withJoinedTexts } from '../../request/portable-prompt.ts'
import { adaptingModel, leftOut, withImagesApart } from './adapt-request.ts'
import { withWarnings } from '../part-batches.ts'
import { CHAT_ANSWERS } from '../lenient-answers/chat-answers.ts'
import { readModelList } from './model-list.ts'
import type { ProviderKind } from './provider-kind.ts'
import { createRefusedParts, OF_WHOLE_ANSWERS } from './repeat-adapted.ts'
import { type UnreadAnswers, withCallsRead, withToolsSeen } from './usable-tools.ts'

function prepare (options: LanguageModelV4CallOptions): LanguageModelV4CallOptions {
  const apart = withImagesApart(withOneSystemMessage(options))
  return { ...apart, prompt: withJoinedTexts(mergeTurns(apart.prompt)) }
}

/** Creates the kind of servers that implement OpenAI's chat completions. It adapts requests to what each server takes. */
export function createCompatibleKind (): ProviderKind {
  const refusedBy = createRefusedParts()
  const unreadOf = new Map<string, UnreadAnswers>()
  const load = () => Promise.all([import('@ai-sdk/openai-compatible'), import('../compatible-stream/chunk-parts.ts')])

  return {
    contextWindow: 32_768,
    fileApi: 'compatible',
    load,

    async open ({ provider: name, model: id, baseURL, apiKey, needs, saysNeeds, windowInUse, fetchFor, calls }) {
      const [[{ createOpenAICompatible }, { readerAfter }], kept] = await Promise.all([load(), calls()])
      const to = { parts: refusedBy(baseURL, id), needs }
      const unread = unreadOf.get(`${baseURL} ${id}`) ?? { count: 0 }
      unreadOf.set(`${baseURL} ${id}`, unread)
      const open = (fetch: typeof globalThis.fetch) => (transformRequestBody: (body: Record<string, any>) => Record<string, any>) =>
        createOpenAICompatible({
          name,
          baseURL,
          apiKey,
          fetch,
          includeUsage: true,
          supportsStructuredOutputs: true,
          transformRequestBody
        }).languageModel(id)
      return {
        doGenerate: (options) =>
          adaptingModel({ make: open(fetchFor('answer', CHAT_ANSWERS)), prepare, to, ...OF_WHOLE_ANSWERS })(
            options,
            (model, prepared) => model.doGenerate(prepared)
          ),
        async doStream (options) {
          let sent = options
          const stream = (send: typeof globalThis.fetch) =>
            adaptingModel({ make: open(send), prepare, to })(options, (model, prepared) => model.doStream(sent = prepared))
          const answer = await kept.stream(stream, options.abortSignal, readerAfter)
          const result = sent.tools?.length ? withCallsRead(answer, { needs, unread }) : answer
          return withWarnings(saysNeeds() ? result : withToolsSeen(result, sent, { needs, windowInUse }), leftOut(needs, options, sent))
        }
      }
    },

    listRequest: ({ baseURL, apiKey }) => ({
      url: `${baseURL}/models`,
      headers: { ...apiKey !== undefined && { authorization: `Bearer ${apiKey}` } }
    }),
    readList: readModelList
  }
}
