import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { withOneSystemMessage } from '../caching.ts'
import { adaptingModel, type RefusedParts } from './adapt-request.ts'
import { readModelList } from './compatible-list.ts'
import type { AnswerMode, ProviderKind } from './provider-kind.ts'
import { withImagesApart } from './tool-images.ts'

const prepare = (options: LanguageModelV4CallOptions) => withImagesApart(withOneSystemMessage(options))

/** Creates the kind of servers that implement OpenAI's chat completions. It remembers what each server refuses. */
export function createCompatibleKind (): ProviderKind {
  const refused = new Map<string, RefusedParts>()
  const load = () => import('@ai-sdk/openai-compatible')

  return {
    contextWindow: 32_768,
    load,

    async open ({ provider: name, model: id, baseURL, apiKey, fetchFor }) {
      const { createOpenAICompatible } = await load()
      const caller = `${baseURL} ${id}`
      if (!refused.has(caller)) refused.set(caller, new Set())
      const calls = (mode: AnswerMode) =>
        adaptingModel((transformRequestBody) =>
          createOpenAICompatible({
            name,
            baseURL,
            apiKey,
            fetch: fetchFor(mode),
            includeUsage: true,
            supportsStructuredOutputs: true,
            transformRequestBody
          }).languageModel(id), refused.get(caller)!)
      const whole = calls('answer')
      const streamed = calls('events')
      return {
        doGenerate: (options) => whole((model) => model.doGenerate(prepare(options))),
        doStream: (options) => streamed((model) => model.doStream(prepare(options)))
      }
    },

    listRequest: ({ baseURL, apiKey }) => ({
      url: `${baseURL}/models`,
      headers: { ...apiKey !== undefined && { authorization: `Bearer ${apiKey}` } }
    }),
    readList: readModelList
  }
}
