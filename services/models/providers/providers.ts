import type { LanguageModelV4 } from '@ai-sdk/provider'
import type {
  ConfigureBody,
  LocalFile,
  LocalServer,
  ModelList,
  ProviderList,
  ProviderTested,
  TestBody
} from '../../../schemas/providers.ts'
import type { Clock } from '../../lib/clock.ts'
import { withDeadline } from '../../lib/deadline.ts'
import { failureOf, isFailure } from './check-part.ts'
import { isBudgetError, type Meter, type Reported } from '../../usage/index.ts'
import { type Failure, NoKeyTaken, NoLocalFile, NoLocalServer, UnknownProvider } from './failures.ts'
import type { AttachedFiles } from '../../contracts/attached-file.ts'
import type { Config } from '../../../schemas/config.ts'
import type { ConfigService } from '../../config/index.ts'
import type { StoredRecord } from '../../store/index.ts'
import { createModelCatalog } from './model-catalog.ts'
import type { ToolOf } from './offline/report.ts'
import type { ModelInfo, Provider } from './provider.ts'
import { createDirectProvider } from './direct.ts'
import { createLocalProvider, LOCAL } from './local/local-provider.ts'
import { LOAD_MS } from './local/model-server.ts'
import { createGatewayProvider } from './gateway.ts'
import { createOfflineProvider } from './offline/index.ts'
import { isNative, NATIVE_PROVIDERS } from './kinds/kinds.ts'
import { createProviderKeys, type ProviderSecrets } from './provider-keys.ts'
import { createRegistry, type Registry, type RegistryParts } from './registry.ts'
import { createLearnedLimits, type StoredLimits } from './learned-limits.ts'
import { createContextWindows } from './context-windows.ts'
import { knownModel } from './known-models.ts'

const LIMIT_MS = 15_000
/** The output limit of a test call, in tokens: the smallest one that every provider accepts. The model's reasoning counts, too. */
const TOKENS = 16

interface ProbeParts {
  id: string
  limitMs: number
  load(id: string): Promise<{ model: LanguageModelV4 }>
  describe(error: unknown, id: string): Failure
  /** Returns the provider's message, if there is one. */
  words(error: unknown): string | undefined
  clock: Clock
  meter: Meter
  signal: AbortSignal
}

/** Makes one small call, streamed like the calls of runs, and returns its result and latency. Never rejects. */
async function probeModel ({ id, limitMs, load, describe, words, clock, meter, signal }: ProbeParts): Promise<ProviderTested> {
  const started = clock.monotonic()
  let reported: Reported | undefined
  const latencyMs = () => Math.round(clock.monotonic() - started)
  try {
    await withDeadline({ clock, ms: limitMs, signal }, async (abortSignal) => {
      const { model } = await load(id)
      await meter.admit(id)
      const { stream } = await model.doStream({
        prompt: [{ role: 'user', content: [{ type: 'text', text: 'Reply with the word OK.' }] }],
        maxOutputTokens: TOKENS,
        abortSignal
      })
      for await (const part of stream) {
        if (isFailure(part)) throw failureOf(part)
        if (part.type !== 'finish') continue
        reported = part
        return
      }
      throw new Error('The answer broke off before it was finished.')
    })
    const answered = { ok: true, model: id, latencyMs: latencyMs() }
    await meter.count({ model: id, role: 'capable', reported, estimate: () => ({ inputTokens: 0, outputTokens: 0 }), ms: latencyMs() })
    return answered
  } catch (error) {
    const failed = { ok: false, model: id, latencyMs: latencyMs() }
    if (isBudgetError(error)) return { ...failed, error: error.message, code: error.code }
    const { message, code } = describe(error, id)
    const said = words(error)
    return { ...failed, error: message, code, ...said !== undefined && { said } }
  }
}

export type Providers = Awaited<ReturnType<typeof createProviders>>

/** The time limit for listing the models of a server, one of which is then tested; milliseconds. */
const LIST_MS = 5_000

interface Parts {
  /** The learned limits of models, and their needs: requirements for the form of a request. */
  limits: StoredRecord<StoredLimits>
  /** Encrypted; the only place a configured key is kept. */
  keys: StoredRecord<ProviderSecrets>
  config: Pick<ConfigService, 'current' | 'update'>
  clock: Clock
  /** From the environment and the parent process; `keys` are by name of the provider. */
  environment: { gatewayKey?: string, gatewayBaseURL?: string, keys?: Record<string, string> }
  /** The service's home with its folders `models/` and `engine/`, and the environment of child processes. */
  home: string
  childEnvironment: () => NodeJS.ProcessEnv
  /** Where `${VAR}` in the key of a provider is looked up. */
  variables: Record<string, string | undefined>
  /** Serves the models of every name, in place of all other providers. Its own name is `gateway`. */
  only?: Provider
  /** Reads the attachments of messages. */
  files?: AttachedFiles
  /** Returns a tool with its texts, for the offline model. */
  toolOf?: ToolOf
}

/** Creates the service's access to models: the registry of roles, the model lists, and the operations that change them. */
export async function createProviders (parts: Parts) {
  const { keys: record, limits, config, clock, environment, home, childEnvironment, variables, only, files, toolOf } = parts
  const learned = await createLearnedLimits({ stored: limits, clock })
  const keys = await createProviderKeys({ record, handedOver: environment.keys })
  const local = createLocalProvider({
    settings: () => config.current,
    home,
    environment: childEnvironment,
    needsOf: learned.needsOf,
    clock
  })
  await local.refresh()
  const offline = createOfflineProvider({ clock, script: () => config.current.offline?.script, toolOf })
  /** Keys that are being tested. They are redacted like the keys in use. */
  const tried = new Set<string>()
  const keyListeners: Array<(provider: string) => void> = []
  let keyChanges = 0

  // hasOwn: a name such as "constructor" exists on every object but is no provider.
  const isInConfig = (name: string) => Object.hasOwn(config.current.providers ?? {}, name)

  /** True if the provider named `local` serves model files. Another server can have that name, too. */
  const servesFiles = () => config.current.providers?.[LOCAL]?.baseURL === undefined && local.hasFiles()

  /** Creates the function that returns the current providers, which read their keys at each call. */
  function createSources (keyOf: (name: string) => string | undefined, gatewayKey: () => string | undefined): RegistryParts['providers'] {
    const gateway = createGatewayProvider({
      clock,
      settings () {
        const { baseURL, timeouts } = config.current.gateway ?? {}
        return { apiKey: gatewayKey(), baseURL: environment.gatewayBaseURL ?? baseURL, timeouts }
      }
    })
    const direct = new Map<string, Provider>()

    function directProvider (name: string): Provider {
      let provider = direct.get(name)
      if (!provider) {
        const settings = () => isInConfig(name) ? config.current.providers![name] : undefined
        provider = createDirectProvider({ name, settings, configuredKey: () => keyOf(name), variables, needsOf: learned.needsOf, clock })
        direct.set(name, provider)
      }
      return provider
    }
    if (only !== undefined) return () => [only]
    return (name = LOCAL) => {
      const byKey = NATIVE_PROVIDERS.filter((name) => !isInConfig(name) && keyOf(name) !== undefined)
      const direct = [...Object.keys(config.current.providers ?? {}), ...byKey]
        .filter((name) => name !== LOCAL || !servesFiles())
        .map(directProvider)
      return [offline, ...direct, ...name === LOCAL && servesFiles() ? [local] : [], gateway]
    }
  }

  const settings = () => config.current
  const storedGatewayKey = () => keys.gateway() ?? environment.gatewayKey
  const providers = createSources(keys.of, storedGatewayKey)
  const registry = createRegistry({ providers, settings, files, refusedTools: learned, clock })
  const catalog = createModelCatalog({ providers, settings, describe: registry.describeListFailure, clock })
  const windows = createContextWindows({ settings, providerOf: (id) => registry.parseModelId(id).provider, catalog, clock })

  /** Returns where the model server of each role is. */
  function reachOfRoles (): ProviderList['reach'] {
    const { fast, capable, vision } = registry.roles()
    return { fast: registry.reach(fast), capable: registry.reach(capable), vision: registry.reach(vision) }
  }

  function requireKeyTaker (name: string): void {
    if (name === LOCAL && servesFiles()) throw new NoKeyTaken()
    if (!isInConfig(name) && !isNative(name)) throw new UnknownProvider(JSON.stringify(name))
  }

  function keyFrom (name: string): ProviderList['providers'][number]['keyFrom'] {
    const isGateway = name === 'gateway'
    if (isGateway ? keys.gateway() !== undefined : keys.isStored(name)) return 'stored'
    if (isGateway ? environment.gatewayKey : keys.of(name)) return 'environment'
    return isInConfig(name) && config.current.providers![name].apiKey !== undefined ? 'config' : undefined
  }

  /** Returns the model to test: the active one, or one of the provider whose key is tried. */
  async function modelToTest (
    trial: Registry,
    { gateway_key: gatewayKey, keys: given = {} }: TestBody,
    signal: AbortSignal
  ): Promise<string> {
    const active = trial.active()
    const [name = gatewayKey === undefined ? undefined : 'gateway'] = Object.keys(given)
    if (name === undefined || trial.parseModelId(active).provider.name === name) return active
    const { provider } = trial.parseModelId(`${name}/any`)
    if (provider.kind === 'gateway') {
      const { defaultModel } = provider
      return trial.parseModelId(defaultModel).provider === provider ? defaultModel : `gateway/${defaultModel}`
    }
    // A server of the user's own has the models that it lists. If the list fails, so does the test.
    if (!provider.native) await withDeadline({ clock, ms: LIST_MS, signal }, (deadline) => provider.listModels(deadline)).catch(() => {})
    return provider.defaultModel
  }

  async function findServers (signal: AbortSignal): Promise<LocalServer[]> {
    const { createDiscovery } = await import('./discovery.ts')
    return createDiscovery({ settings, taken: servesFiles() ? [LOCAL] : [], clock }).find(signal)
  }

  /** Returns the changes of config.json that connect a model server of this machine. Throws NoLocalServer. */
  async function settingsOf (localServer: string, signal: AbortSignal): Promise<Pick<Config, 'providers' | 'model'>> {
    const found = (await findServers(signal)).find(({ baseURL }) => baseURL === localServer)
    if (found?.models[0] === undefined) throw new NoLocalServer(JSON.stringify(localServer))
    return found.config ?? { model: `${found.provider}/${found.models[0]}` }
  }

  /** Returns the model files that other programs left on this machine. */
  async function findFiles (): Promise<LocalFile[]> {
    const { filesOfPrograms } = await import('./local/model-file-list.ts')
    const found = await filesOfPrograms(variables)
    return Promise.all(found.map(async (file) => {
      const { program, path, sizeBytes } = file
      const { id: model, contextWindow, unavailable } = await local.describe(file)
      const use = `POST /providers/configure with ${JSON.stringify({ localFile: path })} to use it.`
      return { program, path, sizeBytes, model, contextWindow, unavailable, use }
    }))
  }

  /** Returns the changes of config.json that add a model file of this machine. Throws NoLocalFile. */
  async function settingsOfFile (path: string): Promise<Pick<Config, 'providers' | 'model'>> {
    const found = (await findFiles()).find((file) => file.path === path)
    const { baseURL, files = [], ...others } = config.current.providers?.[LOCAL] ?? {}
    if (found === undefined || baseURL !== undefined) throw new NoLocalFile(JSON.stringify(path))
    return { providers: { [LOCAL]: { ...others, files: [...new Set([...files, path])] } }, model: found.model }
  }

  return {
    ...registry,
    async close () {
      await registry.close()
      await local.end()
    },
    contextWindow: windows.contextWindow,
    windowOfCut: windows.windowOfCut,
    mostTools: learned.mostTools,
    noteToolsRefused: learned.noteToolsRefused,
    refusedTools: learned.refusedTools,
    noteToolRefused: learned.noteToolRefused,
    forgetRefused: learned.forgetRefused,

    /**
     * Describes a failure like the registry. Also remembers the context window that a provider names when it refuses a prompt for its
     * length.
     */
    describeFailure (error: unknown, id: string): Failure {
      const failure = registry.describeFailure(error, id)
      if (failure.code === 'ERR_CONTEXT_TOO_LONG') windows.noteRefusal(id, registry.providerWords(error) ?? '')
      return failure
    },

    secrets: (): string[] =>
      [...registry.secrets(), ...keys.all(), ...tried, environment.gatewayKey].filter((secret) => secret !== undefined),

    /** Returns the number of key changes since the start, for callers that must notice a change. */
    keyChanges: (): number => keyChanges,

    /** Calls the listener with the name of each provider that gets a key. */
    onKey: (listener: (provider: string) => void): void => void keyListeners.push(listener),

    /**
     * Returns the price of a model in its provider's list, else the price in the table of known models, with the day of the table;
     * undefined if none is known.
     */
    async listedPrice (id: string): Promise<NonNullable<ModelInfo['pricing']> & { estimateOf?: string } | undefined> {
      const { provider, model } = registry.parseModelId(id)
      if (provider.kind === 'offline') return undefined
      const name = provider.kind === 'gateway' ? model : id
      // Makers of models list no prices.
      const listed = provider.native ? undefined : (await catalog.find(provider, name, new AbortController().signal))?.pricing
      const known = knownModel(id, provider)
      return listed ?? (known && { ...known.pricing, estimateOf: known.day })
    },

    /** Returns a sentence with the reason why the active model cannot work; undefined when no reason is known. */
    problem (): string | undefined {
      try {
        return registry.warning(registry.active())
      } catch (error) {
        return (error as Error).message
      }
    },

    overview: (): ProviderList => ({
      active_model: registry.active(),
      gateway_configured: registry.gatewayConfigured(),
      providers: registry.list().map((provider) => {
        const takesKey = provider.kind !== 'offline' && !(provider.name === LOCAL && servesFiles())
        const from = takesKey ? keyFrom(provider.name) : undefined
        return { ...provider, takesKey, ...from && { keyFrom: from } }
      }),
      roles: registry.roles(),
      reach: reachOfRoles()
    }),

    /**
     * Stores a model and keys, and connects a model server or a model file of this machine; the next run uses them. Throws
     * InvalidModelId, UnknownProvider, NoLocalServer and NoLocalFile (400) before anything changes.
     */
    async configure (body: ConfigureBody, signal: AbortSignal) {
      const { model: named, localServer, localFile, gateway_key: gatewayKey, keys: given } = body
      for (const [name, key] of Object.entries(given ?? {})) {
        if (key !== null || !keys.isStored(name)) requireKeyTaker(name)
      }
      if (named !== undefined) registry.parseModelId(named)
      const found = localServer !== undefined
        ? await settingsOf(localServer, signal)
        : localFile !== undefined ? await settingsOfFile(localFile) : undefined
      const model = named ?? found?.model
      if (gatewayKey !== undefined || given !== undefined) {
        await keys.change({ gateway_key: gatewayKey, keys: given })
        catalog.drop()
        keyChanges++
        const changed = Object.entries({ ...given, ...gatewayKey !== undefined && { gateway: gatewayKey } })
        for (const [name, key] of changed) if (key !== null) for (const listener of keyListeners) listener(name)
      }
      if (model !== undefined) {
        await config.update((current) => ({
          ...current,
          ...found?.providers && { providers: { ...current.providers, ...found.providers } },
          model
        }))
      }
      const warning = registry.warning(registry.active())
      return {
        status: 'configured' as const,
        active_model: registry.active(),
        gateway_configured: registry.gatewayConfigured(),
        ...(warning !== undefined && { warning })
      }
    },

    /** Lists the models of every provider; with `discover`, also the model servers and the model files of this machine. */
    async models (signal: AbortSignal, { discover = false } = {}): Promise<ModelList> {
      // A file, or the engine, might have been added since.
      await local.refresh()
      catalog.dropListOf(LOCAL)
      if (!discover) return catalog.list(signal)
      const [list, discovered, found] = await Promise.all([catalog.list(signal), findServers(signal), findFiles()])
      return { ...list, discovered, files: found }
    },

    /**
     * Tests whether a model answers; without an id, the active model or one of the provider whose key is given. A given key is used
     * for this call alone. Throws InvalidModelId and UnknownProvider (400).
     */
    async test (asked: TestBody, meter: Meter, signal: AbortSignal): Promise<ProviderTested> {
      const { model, gateway_key: gatewayKey, keys: given = {} } = asked
      for (const name of Object.keys(given)) requireKeyTaker(name)
      const own = [...Object.values(given), ...gatewayKey === undefined ? [] : [gatewayKey]].map((key) => key.trim())
      const keyOf = (name: string) => Object.hasOwn(given, name) ? given[name] : keys.of(name)
      const trial = own.length === 0
        ? registry
        : createRegistry({ providers: createSources(keyOf, () => gatewayKey ?? storedGatewayKey()), settings, clock })
      if (model !== undefined) trial.parseModelId(model)
      for (const key of own) tried.add(key)
      try {
        const id = model ?? await modelToTest(trial, asked, signal)
        const { model: load, describeFailure: describe, providerWords: words } = trial
        const { provider, model: name } = trial.parseModelId(id)
        const limitMs = provider === local ? LOAD_MS + LIMIT_MS : LIMIT_MS
        const tested = await probeModel({ id, limitMs, load, describe, words, clock, meter, signal })
        if (!tested.ok || !asked.thorough) return tested
        const { examineModel } = await import('./examine-model.ts')
        const found = { needs: provider.needsOf?.(name), isOwn: trial.reach(id) !== 'cloud', windowOfCut: windows.windowOfCut }
        return { ...tested, findings: await examineModel({ id, load, describe, ...found, clock, meter, signal }) }
      } finally {
        for (const key of own) tried.delete(key)
        if (trial !== registry) await trial.close()
      }
    }
  }
}
