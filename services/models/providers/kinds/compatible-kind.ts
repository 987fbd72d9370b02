import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { withOneSystemMessage } from '../../caching.ts'
import { adaptingModel, leftOut, type RefusedParts, withImagesApart } from './adapt-request.ts'
import { withWarnings } from '../part-batches.ts'
import { CHAT_ANSWERS } from '../lenient-answers/chat-answers.ts'
import { readModelList } from './model-list.ts'
import type { ProviderKind } from './provider-kind.ts'

const prepare = (options: LanguageModelV4CallOptions) => withImagesApart(withOneSystemMessage(options))

/** Creates the kind of servers that implement OpenAI's chat completions. It remembers what each server refuses. */
export function createCompatibleKind (): ProviderKind {
  const refused = new Map<string, RefusedParts>()
  const load = () => Promise.all([import('@ai-sdk/openai-compatible'), import('../compatible-stream/chunk-parts.ts')])

  return {
    contextWindow: 32_768,
    fileApi: 'compatible',
    load,

    async open ({ provider: name, model: id, baseURL, apiKey, fetchFor, calls }) {
      const [[{ createOpenAICompatible }, { readerAfter }], kept] = await Promise.all([load(), calls()])
      const caller = `${baseURL} ${id}`
      if (!refused.has(caller)) refused.set(caller, new Set())
      const ask = <T>(fetch: typeof globalThis.fetch, call: (model: LanguageModelV4) => PromiseLike<T>) =>
        adaptingModel((transformRequestBody) =>
          createOpenAICompatible({
            name,
            baseURL,
            apiKey,
            fetch,
            includeUsage: true,
            supportsStructuredOutputs: true,
            transformRequestBody
          }).languageModel(id), refused.get(caller)!)(call)
      return {
        doGenerate: (options) => ask(fetchFor('answer', CHAT_ANSWERS), (model) => model.doGenerate(prepare(options))),
        async doStream (given) {
          const options = prepare(given)
          const stream = (send: typeof globalThis.fetch) => ask(send, (model) => model.doStream(options))
          const result = await kept.stream(stream, options.abortSignal, readerAfter)
          return withWarnings(result, leftOut(refused.get(caller)!, options))
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
