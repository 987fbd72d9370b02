import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { withOneSystemMessage } from '../../caching.ts'
import { readModelList } from './model-list.ts'
import { RESPONSES_ANSWERS } from '../lenient-answers/responses-answers.ts'
import { nativeModel } from './native-model.ts'
import type { ProviderKind } from './provider-kind.ts'
import { createRefusedParts } from './repeat-adapted.ts'

/** Models of OpenAI's list that cannot hold a conversation over its Responses API; the list does not give their type. */
const OTHER_MODELS =
  /audio|babbage|computer-use|dall-e|davinci|embedding|image|instruct|live|moderation|realtime|search|sora|speech|transcri|tts|whisper/

/** OpenAI's Responses API. */
export function createOpenAIKind (): ProviderKind {
  const refusedBy = createRefusedParts()
  const load = () => import('@ai-sdk/openai')
  return {
    baseURL: 'https://api.openai.com/v1',
    defaultModel: 'gpt-6-sol',
    contextWindow: 128_000,
    fileApi: 'openai',
    load,

    async open ({ model, baseURL, apiKey = 'none', needs, fetchFor }) {
      const { createOpenAI } = await load()
      return nativeModel({
        open: (mode) => createOpenAI({ baseURL, apiKey, fetch: fetchFor(mode, RESPONSES_ANSWERS) }).responses(model),
        prepare: withDefaults,
        to: { parts: refusedBy(baseURL, model), needs }
      })
    },

    listRequest: ({ baseURL, apiKey = 'none' }) => ({ url: `${baseURL}/models`, headers: { authorization: `Bearer ${apiKey}` } }),
    readList: (text, provider) => readModelList(text, provider).filter(({ id }) => !OTHER_MODELS.test(id.slice(provider.length + 1)))
  }
}

/**
 * Adds the service's settings, which `providerOptions` of config.json override. Nothing is stored at OpenAI: the answers carry
 * their reasoning encrypted instead, so that a conversation stays usable when OpenAI has deleted its copy. Schemas are not
 * strict, because a strict one must require every field.
 */
const withDefaults = (options: LanguageModelV4CallOptions): LanguageModelV4CallOptions => ({
  ...withOneSystemMessage(options),
  providerOptions: { ...options.providerOptions, openai: { store: false, strictJsonSchema: false, ...options.providerOptions?.openai } }
})
