import { expandVariables, type Variables } from '../config/variables.ts'
import { adaptingModel, type RefusedParts } from './adapt-request.ts'
import { boundedFetch } from './bounded-fetch.ts'
import type { Provider } from './provider.ts'
import { ProviderNotConfigured } from './provider-errors.ts'
import { readModelList } from './model-list.ts'
import { withImagesApart } from './tool-images.ts'

export interface DirectSettings {
  /** http or https, as the server's own documentation names it: it often ends in /v1. */
  baseURL: string
  /** `${VAR}` in it stands for a variable of the environment. */
  apiKey?: string
  /** Names of the models to offer, the default first. When absent, the server's model list is used. */
  models?: string[]
}

interface Parts {
  name: string
  /** Read at each call; returns undefined when the provider is no longer configured. */
  settings: () => DirectSettings | undefined
  variables: Variables
  fetch?: typeof globalThis.fetch
}

/** Creates the provider for a server that implements OpenAI's chat completions. The SDK is loaded on first use. */
export function createDirectProvider ({ name, settings, variables, fetch }: Parts): Provider {
  const seen = new Set<string>()
  const refused = new Map<string, RefusedParts>()
  let firstListed: string | undefined

  /** Returns the key with its variables filled in, and the names of the variables that are not set. */
  function key () {
    const filled = expandVariables(settings()?.apiKey, variables)
    if (filled.value !== undefined && filled.missing.length === 0) seen.add(filled.value)
    return filled
  }

  function problem (): string | undefined {
    if (!settings()) return `config.json names no provider "${name}" any more. Add it under "providers", or choose another model.`
    const [variable] = key().missing
    return variable &&
      `its key is to come from the environment variable ${variable}, which is not set. Set it and restart, or write the key into config.json under "providers".`
  }

  /** Returns the address and the key. Throws ProviderNotConfigured, which names `subject` (a model or the provider). */
  function access (subject: string) {
    const obstacle = problem()
    if (obstacle !== undefined) throw new ProviderNotConfigured(subject, obstacle)
    return { baseURL: settings()!.baseURL.replace(/\/+$/, ''), apiKey: key().value }
  }

  return {
    name,
    kind: 'direct',
    get defaultModel () {
      return `${name}/${settings()?.models?.[0] ?? firstListed ?? 'default'}`
    },
    configured: () => problem() === undefined,
    problem,
    advice: {
      get key () {
        const hasKey = settings()?.apiKey !== undefined
        return `${hasKey ? 'the key is not valid' : 'it needs a key'}. Set ${
          hasKey ? 'another' : 'an'
        } "apiKey" for "${name}" in config.json under "providers", then POST /config/reload.`
      },
      address: `the "baseURL" of "${name}" in config.json`
    },
    secrets () {
      key()
      return [...seen]
    },

    async languageModel (id) {
      const { baseURL, apiKey } = access(`${name}/${id}`)
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
      const caller = `${baseURL} ${id}`
      if (!refused.has(caller)) refused.set(caller, new Set())
      const calls = (mode: 'answer' | 'events') =>
        adaptingModel((transformRequestBody) =>
          createOpenAICompatible({
            name,
            baseURL,
            apiKey,
            fetch: boundedFetch(mode, fetch),
            includeUsage: true,
            supportsStructuredOutputs: true,
            transformRequestBody
          }).languageModel(id), refused.get(caller)!)
      const whole = calls('answer')
      const streamed = calls('events')
      return {
        specificationVersion: 'v4',
        provider: name,
        modelId: id,
        supportedUrls: {},
        doGenerate: (options) => whole((model) => model.doGenerate(withImagesApart(options))),
        doStream: (options) => streamed((model) => model.doStream(withImagesApart(options)))
      }
    },

    async listModels (signal) {
      signal.throwIfAborted()
      const { baseURL, apiKey } = access(name)
      const { models } = settings()!
      if (models?.length) return models.map((model) => ({ id: `${name}/${model}`, name: model, provider: name }))
      const response = await boundedFetch('answer', fetch)(`${baseURL}/models`, {
        headers: { accept: 'application/json', ...apiKey !== undefined && { authorization: `Bearer ${apiKey}` } },
        signal
      })
      const text = await response.text()
      if (!response.ok) throw Object.assign(new Error(errorMessageIn(text)), { statusCode: response.status })
      const list = readModelList(text, name)
      firstListed = list[0]?.id.slice(name.length + 1)
      return list
    },

    async warm () {
      await import('@ai-sdk/openai-compatible')
    }
  }
}

/** Returns the message of an error answer in OpenAI's format; '' when the text is none. */
function errorMessageIn (text: string): string {
  try {
    const { error } = JSON.parse(text)
    return String(error?.message ?? error ?? '')
  } catch {
    return ''
  }
}
