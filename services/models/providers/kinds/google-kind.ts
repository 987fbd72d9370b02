import { withOneSystemMessage } from '../../caching.ts'
import type { ModelInfo } from '../provider.ts'
import { entriesOf, modelInfo } from './model-list.ts'
import { GOOGLE_ANSWERS } from '../lenient-answers/google-answers.ts'
import { nativeModel } from './native-model.ts'
import type { ProviderKind } from './provider-kind.ts'
import { createRefusedParts } from './repeat-adapted.ts'

/** Google's Gemini API. */
export function createGoogleKind (): ProviderKind {
  const refusedBy = createRefusedParts()
  const load = () => import('@ai-sdk/google')
  return {
    baseURL: 'https://generativelanguage.googleapis.com/v1beta',
    defaultModel: 'gemini-3.8-flash',
    contextWindow: 1_000_000,
    fileApi: 'google',
    load,

    async open ({ model, baseURL, apiKey = 'none', needs, fetchFor }) {
      const { createGoogle } = await load()
      return nativeModel({
        open: (mode) => createGoogle({ baseURL, apiKey, fetch: fetchFor(mode, GOOGLE_ANSWERS) }).chat(model),
        prepare: withOneSystemMessage,
        to: { parts: refusedBy(baseURL, model), needs }
      })
    },

    listRequest: ({ baseURL, apiKey = 'none' }) => ({ url: `${baseURL}/models?pageSize=1000`, headers: { 'x-goog-api-key': apiKey } }),
    readList: (text, provider): ModelInfo[] =>
      entriesOf(text, 'models').flatMap((entry) => {
        const { name: path, displayName: name, inputTokenLimit: tokens, supportedGenerationMethods: methods } = entry
        if (typeof path !== 'string' || !(Array.isArray(methods) && methods.includes('generateContent'))) return []
        return modelInfo({ provider, id: path.replace(/^models\//, ''), name, tokens })
      })
  }
}
