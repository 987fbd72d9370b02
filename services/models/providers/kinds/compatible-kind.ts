import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { withOneSystemMessage } from '../../caching.ts'
import { mergeTurns, withJoinedTexts } from '../../request/portable-prompt.ts'
import { adaptingModel, leftOut, withImagesApart } from './adapt-request.ts'
import { withWarnings } from '../part-batches.ts'
import { CHAT_ANSWERS } from '../lenient-answers/chat-answers.ts'
import { readModelList } from './model-list.ts'
import type { ProviderKind } from './provider-kind.ts'
import { createRefusedParts } from './repeat-adapted.ts'
import { withToolsSeen } from './unseen-tools.ts'

function prepare (options: LanguageModelV4CallOptions): LanguageModelV4CallOptions {
  const apart = withImagesApart(withOneSystemMessage(options))
  return { ...apart, prompt: withJoinedTexts(mergeTurns(apart.prompt)) }
}

/** Creates the kind of servers that implement OpenAI's chat completions. It adapts requests to what each server takes. */
export function createCompatibleKind (): ProviderKind {
  const refusedBy = createRefusedParts()
  const load = () => Promise.all([import('@ai-sdk/openai-compatible'), import('../compatible-stream/chunk-parts.ts')])

  return {
    contextWindow: 32_768,
    fileApi: 'compatible',
    load,

    async open ({ provider: name, model: id, baseURL, apiKey, needs, saysNeeds, windowInUse, fetchFor, calls }) {
      const [[{ createOpenAICompatible }, { readerAfter }], kept] = await Promise.all([load(), calls()])
      const to = { parts: refusedBy(baseURL, id), needs }
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
      type Ask<T> = (model: LanguageModelV4, options: LanguageModelV4CallOptions) => PromiseLike<T>
      const ask = <T>(fetch: typeof globalThis.fetch, options: LanguageModelV4CallOptions, call: Ask<T>) =>
        adaptingModel({ make: open(fetch), prepare, to })(options, call)
      return {
        doGenerate: (options) => ask(fetchFor('answer', CHAT_ANSWERS), options, (model, prepared) => model.doGenerate(prepared)),
        async doStream (options) {
          const stream = (send: typeof globalThis.fetch) => ask(send, options, (model, prepared) => model.doStream(prepared))
          const result = await kept.stream(stream, options.abortSignal, readerAfter)
          return withWarnings(saysNeeds() ? result : withToolsSeen(result, options, { needs, windowInUse }), leftOut(to, options))
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
