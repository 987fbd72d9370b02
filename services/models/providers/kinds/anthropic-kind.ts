import type { ModelInfo } from '../provider.ts'
import { withBlockBinding } from '../../reasoning.ts'
import { withCachePoints } from '../../caching.ts'
import { entriesOf, modelInfo } from './model-list.ts'
import { ANTHROPIC_ANSWERS } from '../lenient-answers/anthropic-answers.ts'
import { nativeModel } from './native-model.ts'
import type { ProviderKind } from './provider-kind.ts'
import { createRefusedParts } from './repeat-adapted.ts'

/** Anthropic's Messages API. */
export function createAnthropicKind (): ProviderKind {
  const refusedBy = createRefusedParts()
  const load = () => import('@ai-sdk/anthropic')
  return {
    baseURL: 'https://api.anthropic.com/v1',
    defaultModel: 'claude-sonnet-5-5',
    smallModel: 'claude-haiku-5-5',
    contextWindow: 200_000,
    fileApi: 'anthropic',
    load,

    async open ({ model, baseURL, apiKey = 'none', needs, fetchFor }) {
      const { createAnthropic } = await load()
      return nativeModel({
        open: (mode) => createAnthropic({ baseURL, apiKey, fetch: fetchFor(mode, ANTHROPIC_ANSWERS) }).messages(ownName(model)),
        prepare: (options) => withCachePoints(withBlockBinding(model, options)),
        to: { parts: refusedBy(baseURL, model), needs }
      })
    },

    listRequest: ({ baseURL, apiKey = 'none' }) => ({
      url: `${baseURL}/models?limit=1000`,
      headers: { 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' }
    }),
    readList: (text, provider): ModelInfo[] =>
      entriesOf(text, 'data').flatMap(({ id, display_name: name, max_input_tokens: tokens }) => modelInfo({ provider, id, name, tokens }))
  }
}

/** The gateway writes versions with a dot (claude-sonnet-5.5), Anthropic with a dash. Both names work here. */
const ownName = (model: string) => model.replace(/(\d)\.(?=\d)/g, '$1-')
