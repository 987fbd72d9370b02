import { readJson } from '../../lib/json.ts'
import type { Config } from '../../../schemas/config.ts'
import { expandVariables, type Variables } from '../../config/index.ts'
import { systemClock, type Clock } from '../../lib/clock.ts'
import { withDeadline } from '../../lib/deadline.ts'
import type { Need } from '../request/request-needs.ts'
import { withPortablePrompt } from '../request/portable-prompt.ts'
import { boundedFetch } from './bounded-fetch.ts'
import type { KeptCalls } from './answer-stream/kept-calls.ts'
import { lenientFetch } from './lenient-answers/lenient-fetch.ts'
import { isNative, KINDS, type KindName } from './kinds/kinds.ts'
import type { Access, ProviderKind } from './kinds/provider-kind.ts'
import type { LearnedNeeds } from './learned-limits.ts'
import { askServedModel, askWindow, isLocalProgram, type ServedModel } from './served-model.ts'
import type { Provider } from './provider.ts'
import { ProviderNotConfigured } from './failures.ts'
import { reachOf } from './reach.ts'

/** The entry of a provider under `providers` in config.json. `${VAR}` in its key stands for a variable of the environment. */
export type DirectSettings = NonNullable<Config['providers']>[string]

interface Parts {
  name: string
  /** Called at each use; returns undefined if the provider has no entry. */
  settings: () => DirectSettings | undefined
  /** Returns a key that takes precedence over the one in the entry. */
  configuredKey?: () => string | undefined
  variables: Variables
  clock?: Clock
  /**
   * Returns the needs (see `Need`: what the model requires of the form of a request) that were learned of a model, `<provider>/<model>`, at
   * an address. By default nothing is stored.
   */
  needsOf?: (id: string, baseURL: string) => LearnedNeeds
}

/** How long a server's answer about a model is cached, in milliseconds. The server might be restarted with another chat template. */
const SERVED_MS = 5 * 60_000
/**
 * The time limit for a server's answer about its models, and the pause before a server that did not answer is asked again; both in
 * milliseconds.
 */
const ASKING_MS = 2_000
const AGAIN_MS = 20_000
/** The number of models whose servers' answers are remembered. */
const MOST_SERVED = 500

/** Returns a memory of needs that lasts until the service ends. */
function forgetful (): NonNullable<Parts['needsOf']> {
  const known = new Map<string, Set<Need>>()
  return (id, baseURL) => {
    const key = `${id} ${baseURL}`
    const read = () => known.get(key) ?? new Set<Need>()
    return { read, note: (needs) => known.set(key, new Set([...read(), ...needs])), forget: () => known.delete(key) }
  }
}

/** Creates a provider whose server is called directly, with the SDK of its kind. */
export function createDirectProvider (
  { name, settings, configuredKey = () => undefined, variables, clock = systemClock, needsOf = forgetful() }: Parts
): Provider {
  const seen = new Set<string>()
  let opened: { name: KindName, kind: ProviderKind } | undefined
  let firstListed: string | undefined
  let calls: Promise<KeptCalls> | undefined
  /** The answers of servers about models, by model and address, and when they were asked; `clock.now()`. */
  const served = new Map<string, { model?: ServedModel, at: number }>()

  /** Returns the functions that make streaming calls. All calls share their connections. */
  function loadCalls () {
    calls ??= import('./answer-stream/kept-calls.ts').then(({ createKeptCalls }) => createKeptCalls(clock))
    return calls
  }

  /** A `fetch` without a time limit of its own. */
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
    // A server of the user's own might need no key.
    const needsKey = value === undefined && entry?.baseURL === undefined
    return needsKey ? 'it has no key. Give it one in the settings, or choose another model.' : undefined
  }

  /** Returns the address and the key. Throws ProviderNotConfigured, which names `subject` (a model or the provider). */
  function access (subject: string) {
    const obstacle = problem()
    if (obstacle !== undefined) throw new ProviderNotConfigured(subject, obstacle)
    return { baseURL: (settings()?.baseURL ?? kind().baseURL ?? '').replace(/\/+$/, ''), apiKey: key().value }
  }

  /** Asks a server of the user's own about a model, unless a recent answer is cached. */
  async function lookAtServed (model: string, { baseURL, apiKey }: Access): Promise<void> {
    const place = `${model} ${baseURL}`
    const known = served.get(place)
    if (kind().baseURL !== undefined || reachOf(baseURL) === 'cloud') return
    if (known !== undefined && clock.now() - known.at < SERVED_MS) return
    const found = await withDeadline({ clock, ms: ASKING_MS, signal: new AbortController().signal }, (signal) =>
      askServedModel({ baseURL, model, apiKey, fetch: boundedFetch('answer'), signal })).catch(() => 'silent' as const)
    if (served.size >= MOST_SERVED) served.clear()
    served.set(place, found === 'silent'
      ? { model: known?.model, at: clock.now() - SERVED_MS + AGAIN_MS }
      : { model: found, at: clock.now() })
  }

  /**
   * Returns the needs of a model: the learned needs, and the needs that its server states. The server's statement about pictures takes
   * precedence.
   */
  function needsAt (model: string, { baseURL }: Access): LearnedNeeds {
    const learned = needsOf(`${name}/${model}`, baseURL)
    return {
      ...learned,
      read () {
        const servedModel = served.get(`${model} ${baseURL}`)?.model
        const needs = new Set(learned.read())
        if (servedModel?.hasVision) needs.delete('no-pictures')
        return new Set([...needs, ...servedModel?.needs ?? []])
      }
    }
  }

  /** Whether the server at an address was recognised as a known program, and when the server was asked; `clock.now()`. */
  const recognized = new Map<string, { isLocal: Promise<boolean>, at: number }>()

  function isLocalAt ({ baseURL, apiKey }: Access): Promise<boolean> {
    const known = recognized.get(baseURL)
    if (known !== undefined && clock.now() - known.at < SERVED_MS) return known.isLocal
    const isLocal = withDeadline({ clock, ms: ASKING_MS, signal: new AbortController().signal }, (signal) =>
      isLocalProgram({ baseURL, apiKey, fetch: boundedFetch('answer'), signal })).catch(() => {
      // A server that answers one request at a time might be busy. The earlier result still holds.
      recognized.set(baseURL, { isLocal, at: clock.now() - SERVED_MS + AGAIN_MS })
      return known?.isLocal ?? false
    })
    recognized.set(baseURL, { isLocal, at: clock.now() })
    return isLocal
  }

  async function localServer (): Promise<string | undefined> {
    const entry = settings()
    if (entry?.local === false || problem() !== undefined) return undefined
    const reached = access(name)
    if (entry?.local !== true) {
      if (kind().baseURL !== undefined || reachOf(reached.baseURL) === 'cloud') return undefined
      if (!await isLocalAt(reached)) return undefined
    }
    return URL.canParse(reached.baseURL) ? new URL(reached.baseURL).origin : undefined
  }

  const windowInUse = async (model: string, signal: AbortSignal): Promise<number | undefined> => {
    const reached = access(name)
    if (kind().baseURL !== undefined || reachOf(reached.baseURL) === 'cloud') return undefined
    return askWindow({ ...reached, model, fetch: boundedFetch('answer'), signal })
  }

  return {
    name,
    kind: 'direct',
    get defaultModel () {
      return `${name}/${settings()?.models?.[0] ?? kind().defaultModel ?? firstListed ?? 'default'}`
    },
    get smallModel () {
      const { baseURL, smallModel } = kind()
      // A server at another address might not have the model.
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
      const reached = access(`${name}/${id}`)
      const { doGenerate, doStream } = await kind().open({
        ...reached,
        needs: needsAt(id, reached),
        saysNeeds: () => served.get(`${id} ${reached.baseURL}`)?.model !== undefined,
        windowInUse: (signal) => windowInUse(id, signal),
        provider: name,
        model: id,
        fetchFor: (mode, form) => lenientFetch(form, mode, mode === 'events' ? sendForStream : undefined),
        calls: loadCalls
      })
      return {
        ...{ specificationVersion: 'v4', provider: name, modelId: id, supportedUrls: {} },
        doGenerate: (options) => doGenerate(withPortablePrompt(options)),
        async doStream (options) {
          // Small questions have no tools, and their servers must not wait.
          if (options.tools?.length) await lookAtServed(id, reached)
          return doStream(withPortablePrompt(options))
        }
      }
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

    windowInUse,
    localServer,
    needsOf: (model) => needsAt(model, access(name)),

    async warm () {
      await Promise.all([kind().load(), loadCalls()])
    },
    async close () {
      (await calls)?.close()
    }
  }
}

/** Returns the message of an error answer in OpenAI's format, which others use, too; '' if the text is none. */
function errorMessageIn (text: string): string {
  const error = readJson(text)?.error
  return String(error?.message ?? error ?? '')
}
