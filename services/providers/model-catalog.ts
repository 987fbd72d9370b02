import type { ModelList } from '../../schemas/providers.ts'
import type { Clock } from '../lib/clock.ts'
import type { ModelInfo, Provider } from './provider.ts'
import { withDeadline } from '../lib/deadline.ts'
import type { Failure } from './describe-failure.ts'

/** How long a list is kept, and how long a provider may take for it, milliseconds. */
const KEPT_MS = 5 * 60_000
const LIMIT_MS = 10_000
/** A run waits no longer for it. */
const FIND_MS = 2_000
/** Models taken of one provider. */
const MOST_MODELS = 2_000

interface Parts {
  providers: () => Provider[]
  /** Another object whenever the configuration has changed. */
  settings: () => object
  describe(error: unknown, provider: Provider): Failure
  clock: Clock
}

/** The models of all providers, each list kept for five minutes. */
export function createModelCatalog ({ providers, settings, describe, clock }: Parts) {
  let kept = new Map<string, { models: ModelInfo[], at: number }>()
  let keptFor = settings()
  /** Until when a provider that could not be asked is not asked again for the sake of one model. */
  const failed = new Map<string, number>()

  /** What is being asked for when this is called is not kept either. */
  function drop () {
    kept = new Map()
    failed.clear()
    keptFor = settings()
  }

  async function modelsOf (provider: Provider, signal: AbortSignal): Promise<ModelInfo[]> {
    const lists = kept
    const known = lists.get(provider.name)
    if (known && clock.now() - known.at < KEPT_MS && clock.now() >= known.at) return known.models
    const all = await withDeadline({ clock, ms: LIMIT_MS, signal }, (either) => provider.listModels(either))
    const models = all.slice(0, MOST_MODELS)
    lists.set(provider.name, { models, at: clock.now() })
    return models
  }

  return {
    drop,

    /** What the provider's list says of a model; undefined when it says nothing, or cannot be had in time. */
    async find (provider: Provider, id: string, signal: AbortSignal): Promise<ModelInfo | undefined> {
      if (settings() !== keptFor) drop()
      if (clock.now() < (failed.get(provider.name) ?? 0)) return undefined
      try {
        const models = await withDeadline({ clock, ms: FIND_MS, signal }, (either) => modelsOf(provider, either))
        return models.find((model) => model.id === id)
      } catch {
        signal.throwIfAborted()
        failed.set(provider.name, clock.now() + KEPT_MS)
        return undefined
      }
    },

    /** Every model there is. A provider that cannot be asked is told of beside them; a gateway without key is not asked. */
    async list (signal: AbortSignal): Promise<ModelList> {
      if (settings() !== keptFor) drop()
      const present = providers()
      const taken = new Set(present.map(({ name }) => name))
      const asked = present.filter((provider) => provider.kind !== 'gateway' || provider.configured())
      const answers = await Promise.all(asked.map(async (provider) => {
        try {
          const models = await modelsOf(provider, signal)
          return { models: provider.kind === 'gateway' ? models.map((model) => told(model, taken)) : models, errors: [] }
        } catch (error) {
          return { models: [], errors: [{ provider: provider.name, error: describe(error, provider).message }] }
        }
      }))
      return { models: answers.flatMap(({ models }) => models), errors: answers.flatMap(({ errors }) => errors) }
    }
  }
}

/** A gateway's model whose first part is the name of a direct provider is reached as `gateway/<id>`. */
function told (model: ModelInfo, taken: Set<string>): ModelInfo {
  return taken.has(model.provider) ? { ...model, id: `gateway/${model.id}`, provider: 'gateway' } : model
}
