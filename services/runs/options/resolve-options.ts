import {
  type AppTool,
  type Budget,
  MOST_APP_TOOLS,
  MOST_INSTRUCTIONS,
  MOST_TOOL_NAMES,
  type RunOptions
} from '../../../schemas/run-options.ts'
import { defineError } from '../../lib/service-error.ts'
import { inBoth, type ToolNames } from './tool-patterns.ts'

const TWICE = 'of two of the agent, the conversation and the request'
const ToolTwice = defineError('ERR_INVALID_REQUEST', `options.appTools: the tool "%s" is ${TWICE}. Leave it out of one, or rename it.`)
const TooMuch = defineError('ERR_INVALID_REQUEST', 'options.%s: agent, conversation and request have %d %s together; the limit is %d.')

/**
 * Resolves the options of a run from layers, the widest first, such as agent, conversation and request. The result allows nothing that a
 * layer forbids: it has the tools that all layers allow, without those that any layer denies, the smallest value of each limit, `sandbox:
 * "required"` if one layer requires it, and `interactive: false` if one layer says so. Model, effort, object, app, `workspace` and number
 * of steps are those of the nearest layer. Instructions and application tools are those of all layers. The result can be a layer again.
 * Throws ToolTwice or TooMuch (400).
 */
export function resolveOptions (
  layers: readonly RunOptions[],
  otherNames: ToolNames['otherNames'] = () => [],
  serversOf: ToolNames['serversOf'] = () => []
): RunOptions {
  const nearest = <K extends keyof RunOptions>(key: K) => layers.findLast((layer) => layer[key] !== undefined)?.[key]
  const all = <K extends keyof RunOptions>(key: K) => layers.map((layer) => layer[key]).filter((value) => value !== undefined)
  const texts = all('instructions')
  const interactive = all('interactive')
  /** Returns the entries for the tools that are in all lists. */
  const inAll = (lists: string[][]) =>
    lists.map((list) => [...new Set(list)]).reduce((left, list) => inBoth(left, list, { otherNames, serversOf }))
  return withoutUndefined({
    agent: nearest('agent'),
    model: nearest('model'),
    instructions: joined(texts, (all) => all.join('\n\n'), { key: 'instructions', unit: 'characters', most: MOST_INSTRUCTIONS }),
    allowTools: joined(all('allowTools'), inAll, { key: 'allowTools', unit: 'names', most: MOST_TOOL_NAMES }),
    denyTools: joined(all('denyTools'), (lists) => [...new Set(lists.flat())], { key: 'denyTools', unit: 'names', most: MOST_TOOL_NAMES }),
    effort: nearest('effort'),
    maxOutputTokens: least(all('maxOutputTokens')),
    maxSteps: nearest('maxSteps'),
    budget: leastBudget(all('budget')),
    object: nearest('object'),
    appTools: joined(all('appTools'), together, { key: 'appTools', unit: 'tools', most: MOST_APP_TOOLS }),
    app: nearest('app'),
    sandbox: all('sandbox').includes('required') ? 'required' : nearest('sandbox'),
    workspace: nearest('workspace'),
    interactive: interactive.length === 0 ? undefined : interactive.every(Boolean)
  })
}

const withoutUndefined = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as T

const least = (limits: number[]): number | undefined => limits.length === 0 ? undefined : Math.min(...limits)

function leastBudget (budgets: Budget[]): Budget | undefined {
  const limit = (name: keyof Budget) => least(budgets.map((budget) => budget[name]).filter((value) => value !== undefined))
  return budgets.length === 0 ? undefined : withoutUndefined({ usd: limit('usd'), tokens: limit('tokens'), minutes: limit('minutes') })
}

/** Joins the values of all layers into one; undefined if no layer has a value. Throws TooMuch (400) if the result is longer than `most`. */
function joined<T, J extends { length: number }> (
  values: T[],
  join: (values: T[]) => J,
  { key, unit, most }: { key: string, unit: string, most: number }
): J | undefined {
  if (values.length === 0) return undefined
  const all = join(values)
  if (all.length > most) throw new TooMuch(key, all.length, unit, most)
  return all
}

function together (lists: AppTool[][]): AppTool[] {
  const seen = new Set<string>()
  for (const list of lists) {
    // Duplicates within one list are refused where the list is checked.
    const twice = list.find(({ name }) => seen.has(name.toLowerCase()))
    if (twice !== undefined) throw new ToolTwice(twice.name)
    for (const { name } of list) seen.add(name.toLowerCase())
  }
  return lists.flat()
}
