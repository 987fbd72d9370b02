import type { ModelList } from '../../../client/generated/index.ts'
import { dollars, say } from '../../lib/say.ts'
import { modelName, providerName } from './provider-name.ts'

type Model = ModelList['models'][number]

/** A line of the list of models. */
export interface ModelOption {
  /** The id of the model; empty for the default. */
  id: string
  /** The heading above the line; empty for a line without a heading. */
  group: string
  name: string
  /** The name in requests, if it differs from `name`. */
  alias: string
  /** The context length and the price. */
  facts: string
  hasPrice: boolean
  isUnavailable: boolean
}

const MILLION = 1e6
const compact = new Intl.NumberFormat(undefined, { notation: 'compact' })
/** The form of a model id. */
const MODEL_ID = /^[^\s/]+\/\S+$/

/** Returns the price of a million tokens; undefined if it is unknown. */
function priceOf ({ pricing }: Model): string | undefined {
  const [input, output] = [pricing?.input, pricing?.output].map((price) => price === undefined ? NaN : Number(price) * MILLION)
  if (Number.isNaN(input) || Number.isNaN(output)) return undefined
  return input + output === 0 ? say('models.free') : say('models.price', { input: dollars.format(input), output: dollars.format(output) })
}

function optionOf (model: Model, group: string): ModelOption {
  const { id, name, provider, contextWindow, unavailable } = model
  const own = modelName(id)
  const title = provider === 'offline' || name === '' ? own : name
  const price = priceOf(model)
  const facts = [
    contextWindow === undefined ? undefined : say('models.window', { tokens: compact.format(contextWindow) }),
    price,
    unavailable === undefined ? undefined : say('models.unavailable')
  ]
  const alias = title === own ? '' : own
  const isUnavailable = unavailable !== undefined
  return { id, group, name: title, alias, facts: facts.filter(Boolean).join(' · '), hasPrice: price !== undefined, isUnavailable }
}

const isOffline = ({ provider }: Model) => provider === 'offline'

interface Asked {
  models: readonly Model[]
  typed: string
  /** Ids of recently used models, newest first. */
  lately: readonly string[]
  /** The name of the line for the default. Without it, there is no such line. */
  usual?: string
}

/**
 * Returns the models whose name, id or provider contains all words of the typed text: first recently used models, then the others by
 * provider. The last line is the typed text itself, if it might be the id of a model that is not listed.
 */
export function modelOptions ({ models, typed, lately, usual }: Asked): ModelOption[] {
  const words = typed.toLowerCase().split(/\s+/).filter((word) => word !== '')
  const has = (text: string) => words.every((word) => text.toLowerCase().includes(word))
  const found = models.filter(({ id, name, provider }) => has(`${id} ${name} ${providerName(provider)}`))
  const used = lately.flatMap((id) => found.find((model) => model.id === id) ?? [])
  const byProvider = Map.groupBy(found.filter((model) => !used.includes(model)), ({ provider }) => provider)
  // The offline assistant comes last, because nobody searches for it.
  const groups = [...byProvider].sort(([, [one]], [, [other]]) => Number(isOffline(one)) - Number(isOffline(other)))
  const named = typed.trim()
  const isOther = MODEL_ID.test(named) && models.every(({ id }) => id !== named)
  const bare = { group: '', alias: '', facts: '', hasPrice: false, isUnavailable: false }
  return [
    ...usual !== undefined && has(usual) ? [{ ...bare, id: '', name: usual }] : [],
    ...used.map((model) => optionOf(model, say('models.lately'))),
    ...groups.flatMap(([provider, list]) => list.map((model) => optionOf(model, providerName(provider)))),
    ...isOther ? [{ ...bare, id: named, name: say('models.byName', { name: named }) }] : []
  ]
}
