import type { LanguageModelV4, LanguageModelV4CallOptions, SharedV4ProviderOptions } from '@ai-sdk/provider'
import type { Config } from '../../../schemas/config.ts'
import type { Effort, RunOptions } from '../../../schemas/run-options.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AttachedFiles } from '../../contracts/attached-file.ts'
import { checkFiles, type NewFile } from '../attached/file-forms.ts'
import { withFiles } from '../attached/with-files.ts'
import { createRefusedTools, type RefusedTools, withTools } from '../tool-schemas/with-tools.ts'
import type { Provider, Timeouts } from './provider.ts'
import type { Reach } from './reach.ts'
import type { Role } from '../../contracts/model-role.ts'
import { InvalidModelId, ModelNotUsable, ProviderNotConfigured, describeFailure, providerWords, type Failure } from './failures.ts'

type Settings = SharedV4ProviderOptions[string]

/** Settings of the SDK's packages for how much a model reasons. */
const EFFORT = ['effort', 'reasoning', 'reasoningEffort', 'thinkingBudget', 'thinkingLevel']
/** Settings of the SDK's packages that make a model reason. */
const REASONING = ['effort', 'reasoning', 'reasoningEffort', 'reasoningSummary', 'thinking', 'thinkingConfig']

/**
 * Returns the model with `providerOptions` of config.json added to each call. The call's own options take precedence. A call with its own
 * effort gets no configured effort. A call that asks for no reasoning gets none of the configured settings for reasoning.
 */
function withProviderOptions (model: LanguageModelV4, configured: SharedV4ProviderOptions | undefined): LanguageModelV4 {
  if (configured === undefined) return model
  const extended = (options: LanguageModelV4CallOptions): LanguageModelV4CallOptions => {
    const merged: SharedV4ProviderOptions = { ...options.providerOptions }
    for (const [name, settings] of Object.entries(configured)) {
      merged[name] = { ...usedBy(options.reasoning, settings), ...merged[name] }
    }
    return { ...options, providerOptions: merged }
  }
  return {
    specificationVersion: 'v4',
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doGenerate: (options) => model.doGenerate(extended(options)),
    doStream: (options) => model.doStream(extended(options))
  }
}

/**
 * Returns the configured settings for a call with this effort. A configured effort is left out, because the SDK's packages would prefer it
 * to the effort of the call.
 */
function usedBy (effort: LanguageModelV4CallOptions['reasoning'], settings: Settings): Settings {
  if (effort === undefined || effort === 'provider-default') return settings
  if (effort === 'none') return without(REASONING, settings)
  const { thinking, thinkingConfig, ...others } = settings
  return {
    ...without(EFFORT, others),
    ...(isObject(thinking) && (thinking.type === undefined || thinking.type === 'adaptive') && { thinking }),
    ...(isObject(thinkingConfig) && { thinkingConfig: without(EFFORT, thinkingConfig) })
  }
}

const without = (names: readonly string[], settings: Settings): Settings =>
  Object.fromEntries(Object.entries(settings).filter(([name]) => !names.includes(name)))

const isObject = (value: unknown): value is Settings => typeof value === 'object' && value !== null

/** Returns the collaborators with a registry that assigns models by the options of a run. */
export const withRunModels = <D extends { registry: Registry }>(deps: D, options: ModelOptions | undefined): D => ({
  ...deps,
  registry: { ...deps.registry, ...deps.registry.forRun(options) }
})

const DEFAULT_CAPABLE = 'anthropic/claude-sonnet-5.5'
/** The model of runs when nothing is configured. */
const DEFAULT_OFFLINE = 'offline/assistant'
const LONGEST_ID = 200
const CLOUD_MS = { firstTokenMs: 120_000, idleMs: 60_000 }
const OWN_MS = { firstTokenMs: 15 * 60_000, idleMs: 5 * 60_000 }
/** Ids become parts of headers and addresses, so they contain no control characters and nothing that leads to another address. */
const MODEL_ID = /^(?!.*(?:^|\/)\.{1,2}(?:\/|$))[\w.-]+\/[^\s\p{Cc}\p{Cs}?#%\\]+$/u

const NO_FILES: AttachedFiles = {
  size: async () => undefined,
  bytes: async () => undefined,
  async text () {
    throw new Error('it is not stored any more')
  }
}

/** The user's choice of models, read at each call. */
export type ModelSettings = Pick<Config, 'model' | 'models' | 'providerOptions'>

/** The part of a run's options that affects its model calls. */
type ModelOptions = Pick<RunOptions, 'model' | 'effort' | 'maxOutputTokens'>

/** The options that users set for the model calls of a role. */
export type CallSettings = Pick<LanguageModelV4CallOptions, 'reasoning' | 'maxOutputTokens'>

export interface RegistryParts {
  /**
   * Returns the current providers. With `name`, only the provider of that name has to be included. `gateway` serves every model whose first
   * part names no other provider.
   */
  providers: (name?: string) => Provider[]
  settings: () => ModelSettings
  /** Reads the attachments of messages; without it, models get none. */
  files?: AttachedFiles
  /** Tools that providers refused. */
  refusedTools?: RefusedTools
  clock: Pick<Clock, 'now'>
}

export type Registry = ReturnType<typeof createRegistry>

/** Creates the registry, which assigns a model to each role and finds the provider of a model. */
export function createRegistry (
  { providers, settings, files = NO_FILES, refusedTools = createRefusedTools(), clock }: RegistryParts
) {
  /** Files that a model refused, by the id of the model. */
  const refused = new Map<string, Set<string>>()
  /** Every provider since the start, because the keys of removed providers are redacted from messages, too. */
  const known = new Set<Provider>()
  function present (name?: string): Provider[] {
    const now = providers(name)
    for (const provider of now) known.add(provider)
    return now
  }
  const named = (name: string) => present(name).find((provider) => provider.name === name)
  const gateway = named('gateway')

  /** Splits an id into its provider and the name of the model there. Throws InvalidModelId. */
  function parseModelId (id: string): { provider: Provider, model: string } {
    const slash = id.indexOf('/')
    if (id.length > LONGEST_ID || !MODEL_ID.test(id)) {
      throw new InvalidModelId(
        JSON.stringify(id.slice(0, LONGEST_ID)),
        `it must have the form <provider>/<model>, such as ${DEFAULT_CAPABLE} or ${DEFAULT_OFFLINE}.`
      )
    }
    const direct = named(id.slice(0, slash))
    if (!direct || direct === gateway) {
      if (!gateway) throw new InvalidModelId(JSON.stringify(id), 'no provider has that name. GET /providers lists them.')
      // The gateway identifies its models by their whole ids.
      return { provider: gateway, model: direct ? id.slice(slash + 1) : id }
    }
    const model = id.slice(slash + 1)
    if (direct.models && !direct.models.includes(model)) {
      throw new InvalidModelId(
        JSON.stringify(id),
        `the models of ${direct.name} are ${direct.models.map((known) => `${direct.name}/${known}`).join(' and ')}.`
      )
    }
    return { provider: direct, model }
  }

  function providerOf (id: string): Provider | undefined {
    try {
      return parseModelId(id).provider
    } catch {
      return undefined
    }
  }

  /** Returns `preset` if the provider of the model `id` serves the model `preset`, too; otherwise `id`. */
  function beside (id: string, preset: string | undefined): string {
    const provider = providerOf(id)
    if (provider === undefined || preset === undefined) return id
    if (providerOf(preset) === provider) return preset
    // If a direct provider has taken the maker's name, the gateway still serves the model, under `gateway/` and its whole id.
    return provider === gateway ? `${provider.name}/${preset}` : id
  }

  function refusedBy (id: string): Set<string> {
    const known = refused.get(id) ?? new Set<string>()
    refused.set(id, known)
    return known
  }

  function usable (id: string): boolean {
    return providerOf(id)?.configured() ?? false
  }

  /**
   * Returns the id of the model that runs use: the configured model, otherwise the default model of the gateway or of the first native
   * provider with a key, otherwise the offline assistant.
   */
  function active (): string {
    const { model } = settings()
    if (model !== undefined) return model
    if (usable(DEFAULT_CAPABLE)) return DEFAULT_CAPABLE
    return present().find(({ native, configured }) => native && configured())?.defaultModel ?? DEFAULT_OFFLINE
  }

  function secrets (): string[] {
    present()
    return [...known].flatMap((provider) => provider.secrets?.() ?? [])
  }

  /**
   * Returns the mark of the data that a model attaches to its answers (see models/reasoning.ts). A model that can be called both through
   * the gateway and directly has two marks, because each refuses the data of the other.
   */
  const origin = (id: string): string => providerOf(id)?.native ? `direct:${id}` : id

  const localServer = async (id: string): Promise<string | undefined> => providerOf(id)?.localServer?.()

  const isRole = (roleOrId: string): roleOrId is Role => ['fast', 'capable', 'vision'].includes(roleOrId)

  function warning (id: string): string | undefined {
    const { provider } = parseModelId(id)
    if (provider.configured()) return undefined
    const problem = provider.problem?.() ?? `the provider ${provider.name} is not configured.`
    const name = id.slice(0, id.indexOf('/'))
    if (provider !== gateway || name === gateway.name) return problem
    const names = present().filter(({ configured }) => configured()).map(({ name }) => name)
    return `${problem} No provider "${name}" is configured either; the configured providers are ${names.join(', ')}.`
  }

  /** Assigns models to roles. The run's own model, if it has one, replaces the active model. */
  function forRun ({ model: own, effort, maxOutputTokens }: ModelOptions = {}) {
    const capableModel = () => own ?? active()

    /**
     * Returns the model of each role. The capable model replaces a model whose provider is not configured. A role for which the user chose
     * no model stays with the provider of the capable model, so that texts for a server of one's own, or for the offline model, go nowhere
     * else.
     */
    function roles (): Record<Role, string> {
      const capable = capableModel()
      const { fast, vision } = settings().models ?? {}
      const role = (chosen: string | undefined, preset: string | undefined) => {
        const id = chosen ?? beside(capable, preset)
        return usable(id) ? id : capable
      }
      return { fast: role(fast, providerOf(capable)?.smallModel), capable, vision: role(vision, DEFAULT_CAPABLE) }
    }

    /** Returns the models to try, in order, when the capable model fails. */
    function fallbacks (): string[] {
      const { fallback } = settings().models ?? {}
      return fallback !== undefined && fallback !== capableModel() && usable(fallback) ? [fallback] : []
    }

    /** Returns the settings for the calls of a role. For the role `capable`, the options of the run come before the configuration. */
    function callSettings (role: Role): CallSettings {
      const configured: { effort?: Effort, maxOutputTokens?: number } = settings().models?.settings?.[role] ?? {}
      const chosen = role === 'capable' ? { effort, maxOutputTokens } : {}
      const reasoning = chosen.effort ?? configured.effort
      const limit = chosen.maxOutputTokens ?? configured.maxOutputTokens
      return { ...(reasoning !== undefined && { reasoning }), ...(limit !== undefined && { maxOutputTokens: limit }) }
    }

    return {
      roles,
      fallbacks,
      callSettings,

      /**
       * Returns the model of a role with the settings of its calls, or the model of an id, ready to call. Throws InvalidModelId
       * or ProviderNotConfigured.
       */
      async model (
        roleOrId: Role | (string & {})
      ): Promise<{ id: string, origin: string, model: LanguageModelV4, settings?: CallSettings }> {
        const id = isRole(roleOrId) ? roles()[roleOrId] : roleOrId
        const { provider, model } = parseModelId(id)
        const api = provider.fileApi?.(model) ?? 'compatible'
        const taking = withFiles(withProviderOptions(await provider.languageModel(model), settings().providerOptions), {
          id,
          api,
          files,
          refused: refusedBy(id)
        })
        return {
          id,
          origin: origin(id),
          model: api === 'offline'
            ? taking
            : withTools(taking, {
              id,
              wire: api,
              refused: refusedTools,
              describe: (error) => describeFailure(error, { modelId: id, secrets: secrets(), now: clock.now() }),
              wordsOf: (error) => providerWords(error, secrets())
            }),
          ...(isRole(roleOrId) && { settings: callSettings(roleOrId) })
        }
      },

      /** Returns the model of a role, followed by the models to try when it fails. */
      candidates (role: Role): string[] {
        const id = roles()[role]
        return [id, ...fallbacks().filter((fallback) => fallback !== id)]
      }
    }
  }

  const activeProvider = () => usable(active()) ? providerOf(active()) : undefined

  return {
    ...forRun(),
    forRun,
    parseModelId,
    /** Returns the name of the provider that serves a model, or would serve it if it existed. */
    providerNameOf: (id: string): string => providerOf(id)?.name ?? id.split('/', 1)[0],
    active,
    /** Returns where the server of a model is. */
    reach: (id: string): Reach => providerOf(id)?.reach ?? 'cloud',

    /** Returns a name of the local server of a model; undefined for models elsewhere. See Provider. */
    localServer,
    /** True if one local server answers the calls of both models. */
    async sharesLocalServer (one: string, other: string): Promise<boolean> {
      const server = await localServer(one)
      return server !== undefined && (one === other || server === await localServer(other))
    },

    /** Returns how long a model may be silent. A server of the user's own can take minutes to read a long prompt. */
    timeouts (id: string): Timeouts {
      const provider = providerOf(id)
      const isOwn = provider !== undefined && provider.reach !== 'cloud'
      return { ...(isOwn ? OWN_MS : CLOUD_MS), ...provider?.timeouts?.(), isOwn }
    },

    /** Throws a 400 for files of a new message that the model cannot get in any form. Throws InvalidModelId. */
    async requireFilesTaken (id: string, given: readonly NewFile[]): Promise<void> {
      const { provider, model } = parseModelId(id)
      await checkFiles(given, { id, api: provider.fileApi?.(model) ?? 'compatible', reader: files })
    },

    /** Whether the id is valid and the model's provider is configured. */
    usable,

    /** Throws InvalidModelId, or ModelNotUsable if the configuration lacks something that the model needs (400). */
    requireUsable (id: string): void {
      const problem = warning(id)
      if (problem !== undefined) throw new ModelNotUsable(id, problem)
    },

    origin,

    list: () =>
      present().map(({ name, defaultModel, kind, configured }) => ({ name, default_model: defaultModel, kind, configured: configured() })),

    gatewayConfigured: (): boolean => gateway?.configured() ?? false,

    /** Returns a sentence about missing configuration of a model; undefined if nothing is missing. Throws InvalidModelId. */
    warning (id: string): string | undefined {
      const problem = warning(id)
      return problem === undefined ? undefined : new ProviderNotConfigured(id, problem).message
    },

    /** Returns every key that has been in use since the start. */
    secrets,

    /** Describes a failed call. The message names the model and holds no key. */
    describeFailure (error: unknown, modelId: string): Failure {
      return describeFailure(error, { modelId, advice: providerOf(modelId)?.advice, secrets: secrets(), now: clock.now() })
    },

    /** Returns a provider's message about a refused call, without keys. */
    providerWords: (error: unknown): string | undefined => providerWords(error, secrets()),

    /** Describes a failed request for a model list. The message names the provider and holds no key. */
    describeListFailure: (error: unknown, { name, advice }: Provider): Failure =>
      describeFailure(error, { provider: name, advice, secrets: secrets(), now: clock.now() }),

    /** Opens a connection for the next call of the active model. Ignores a failure, because the call will fail, too. */
    async connect (): Promise<void> {
      try {
        await activeProvider()?.connect?.()
      } catch {}
    },

    /** Closes the connections that no call uses. */
    async close (): Promise<void> {
      await Promise.all([...known].map((provider) => provider.close?.()))
    },

    /** Loads the modules that the active model's first call would wait for. */
    warm: async (): Promise<void> => activeProvider()?.warm?.()
  }
}
