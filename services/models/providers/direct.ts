import { readJson } from '../../lib/json.ts'
import type { Config } from '../../../schemas/config.ts'
import { expandVariables, type Variables } from '../../config/index.ts'
import { systemClock, type Clock } from '../../lib/clock.ts'
import { boundedFetch } from './bounded-fetch.ts'
import type { KeptCalls } from './answer-stream/kept-calls.ts'
import { lenientFetch } from './lenient-answers/lenient-fetch.ts'
import { isNative, KINDS, type KindName } from './kinds/kinds.ts'
import type { ProviderKind } from './kinds/provider-kind.ts'
import type { Provider } from './provider.ts'
import { ProviderNotConfigured } from './failures.ts'
import { reachOf } from './reach.ts'

/** The entry of a provider under `providers` in config.json. `${VAR}` in its key stands for a variable of the environment. */
export type DirectSettings = NonNullable<Config['providers']>[string]

interface Parts {
  name: string
  /** Read at each call; returns undefined when the provider has no entry. */
  settings: () => DirectSettings | undefined
  /** Returns a key that takes precedence over the one in the entry. */
  configuredKey?: () => string | undefined
  variables: Variables
  clock?: Pick<Clock, 'now'>
}

/** Creates a provider whose server is called directly, with the SDK of its kind. */
export function createDirectProvider (
  { name, settings, configuredKey = () => undefined, variables, clock = systemClock }: Parts
): Provider {
  const seen = new Set<string>()
  let opened: { name: KindName, kind: ProviderKind } | undefined
  let firstListed: string | undefined
  let calls: Promise<KeptCalls> | undefined

  /** Returns the functions that make streaming calls. All calls share their connections. */
  function loadCalls () {
    calls ??= import('./answer-stream/kept-calls.ts').then(({ createKeptCalls }) => createKeptCalls(clock))
    return calls
  }

  /** A `fetch` that waits as long as the caller does. */
  const sendForStream: typeof globalThis.fetch = async (url, init) => (await loadCalls()).sendForStream(url, init)

  function kind (): ProviderKind {
    const kindName = settings()?.kind ?? (settings() === undefined && isNative(name) ? name : 'openai-compatible')
    if (opened?.name !== kindName) opened = { name: kindName, kind: KINDS[kindName]() }
    return opened.kind
  }

  /** Returns the key with its variables filled in, and the names of the variables that are not set. */
  function key () {
    const configured = configuredKey()?.trim() || undefined
    const filled = configured === undefined ? expandVariables(settings()?.apiKey, variables) : { value: configured, missing: [] }
    if (filled.value !== undefined && filled.missing.length === 0) seen.add(filled.value)
    return filled
  }

  function problem (): string | undefined {
    const { value, missing: [variable] } = key()
    if (variable !== undefined) {
      return `its key is to come from the environment variable ${variable}, which is not set. Set it and restart, or give the key in the ` +
        'settings.'
    }
    const entry = settings()
    const api = kind().baseURL
    if (entry === undefined && (api === undefined || value === undefined)) {
      return `there is no provider "${name}" any more. Add it in the settings, or choose another model.`
    }
    // A server of the user's own may need no key.
    const needsKey = value === undefined && entry?.baseURL === undefined
    return needsKey ? 'it has no key. Give it one in the settings, or choose another model.' : undefined
  }

  /** Returns the address and the key. Throws ProviderNotConfigured, which names `subject` (a model or the provider). */
  function access (subject: string) {
    const obstacle = problem()
    if (obstacle !== undefined) throw new ProviderNotConfigured(subject, obstacle)
    return { baseURL: (settings()?.baseURL ?? kind().baseURL ?? '').replace(/\/+$/, ''), apiKey: key().value }
  }

  return {
    name,
    kind: 'direct',
    get defaultModel () {
      return `${name}/${settings()?.models?.[0] ?? kind().defaultModel ?? firstListed ?? 'default'}`
    },
    get smallModel () {
      const { baseURL, smallModel } = kind()
      // Another server at that address may not have it.
      return smallModel === undefined || ![undefined, baseURL].includes(settings()?.baseURL) ? undefined : `${name}/${smallModel}`
    },
    get reach () {
      return reachOf(settings()?.baseURL ?? kind().baseURL ?? '')
    },
    fileApi: () => kind().fileApi,
    get contextWindow () {
      return kind().contextWindow
    },
    get native () {
      return kind().baseURL !== undefined
    },
    timeouts: () => settings()?.timeouts ?? {},
    configured: () => problem() === undefined,
    problem,
    advice: {
      get key () {
        const hasKey = configuredKey() !== undefined || settings()?.apiKey !== undefined
        return hasKey ? 'the key is not valid. Set another in the settings.' : 'it needs a key. Give it one in the settings.'
      },
      address: `the address of ${name} in the settings`
    },
    secrets () {
      key()
      return [...seen]
    },

    async languageModel (id) {
      const calls = await kind().open({
        ...access(`${name}/${id}`),
        provider: name,
        model: id,
        fetchFor: (mode, form) => lenientFetch(form, mode, mode === 'events' ? sendForStream : undefined),
        calls: loadCalls
      })
      return { specificationVersion: 'v4', provider: name, modelId: id, supportedUrls: {}, ...calls }
    },

    async listModels (signal) {
      signal.throwIfAborted()
      const reached = access(name)
      const models = settings()?.models
      if (models?.length) return models.map((model) => ({ id: `${name}/${model}`, name: model, provider: name }))
      const { url, headers } = kind().listRequest(reached)
      const response = await boundedFetch('answer')(url, { headers: { accept: 'application/json', ...headers }, signal })
      const text = await response.text()
      if (!response.ok) throw Object.assign(new Error(errorMessageIn(text)), { statusCode: response.status })
      const list = kind().readList(text, name)
      firstListed = list[0]?.id.slice(name.length + 1)
      return list
    },

    // Only Ollama says it (https://docs.ollama.com/api/ps).
    async windowInUse (model, signal) {
      const { baseURL } = access(name)
      if (kind().baseURL !== undefined || reachOf(baseURL) === 'cloud') return undefined
      const response = await boundedFetch('answer')(new URL('/api/ps', baseURL), { signal })
      if (!response.ok) return undefined
      const { models } = await response.json() as { models?: Array<{ name?: string, model?: string, context_length?: unknown }> }
      const names = [model, `${model}:latest`]
      const length = models?.find((each) => names.includes(each.name ?? '') || names.includes(each.model ?? ''))?.context_length
      return typeof length === 'number' && length > 0 ? length : undefined
    },

    async warm () {
      await Promise.all([kind().load(), loadCalls()])
    },
    async close () {
      (await calls)?.close()
    }
  }
}

/** Returns the message of an error answer in OpenAI's format, which others use too; '' when the text is none. */
function errorMessageIn (text: string): string {
  const error = readJson(text)?.error
  return String(error?.message ?? error ?? '')
}
