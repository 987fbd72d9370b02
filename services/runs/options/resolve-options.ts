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
 * Combines the options of a run from layers, the widest first, such as agent, conversation and request. The result allows nothing that a
 * layer forbids: only the tools that all layers allow, without those that any layer denies; the smallest of each limit; commands in a box
 * if one layer requires it; and `interactive: false` if one layer says so. Model, effort, object, app and the number of steps are those of
 * the nearest layer; instructions and tools of applications are those of all layers. The result can be combined again. Throws ToolTwice or
 * TooMuch (400).
 */
export function resolveOptions (
  layers: readonly RunOptions[],
  otherNames: ToolNames['otherNames'] = () => [],
  serversOf: ToolNames['serversOf'] = () => []
): RunOptions {
  const nearest = <K extends keyof RunOptions>(key: K) => layers.findLast((layer) => layer[key] !== undefined)?.[key]
  const all = <K extends keyof RunOptions>(key: K) => layers.map((layer) => layer[key]).filter((value) => value !== undefined)
  const interactive = all('interactive')
  return withoutUndefined({
    agent: nearest('agent'),
    model: nearest('model'),
    instructions: joined(all('instructions')),
    allowTools: common(all('allowTools'), { otherNames, serversOf }),
    denyTools: united(all('denyTools')),
    effort: nearest('effort'),
    maxOutputTokens: least(all('maxOutputTokens')),
    maxSteps: nearest('maxSteps'),
    budget: leastBudget(all('budget')),
    object: nearest('object'),
    appTools: together(all('appTools')),
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

function joined (texts: string[]): string | undefined {
  if (texts.length === 0) return undefined
  const text = texts.join('\n\n')
  if (text.length > MOST_INSTRUCTIONS) throw new TooMuch('instructions', text.length, 'characters', MOST_INSTRUCTIONS)
  return text
}

/** Returns the entries for the tools that are in all lists. */
function common (lists: string[][], names: ToolNames): string[] | undefined {
  if (lists.length === 0) return undefined
  const entries = lists.map((list) => [...new Set(list)]).reduce((left, list) => inBoth(left, list, names))
  if (entries.length > MOST_TOOL_NAMES) throw new TooMuch('allowTools', entries.length, 'names', MOST_TOOL_NAMES)
  return entries
}

function united (lists: string[][]): string[] | undefined {
  if (lists.length === 0) return undefined
  const names = [...new Set(lists.flat())]
  if (names.length > MOST_TOOL_NAMES) throw new TooMuch('denyTools', names.length, 'names', MOST_TOOL_NAMES)
  return names
}

function together (lists: AppTool[][]): AppTool[] | undefined {
  if (lists.length === 0) return undefined
  const tools = lists.flat()
  const seen = new Set<string>()
  for (const list of lists) {
    // Duplicates within one list are refused where the list is checked.
    const twice = list.find(({ name }) => seen.has(name.toLowerCase()))
    if (twice !== undefined) throw new ToolTwice(twice.name)
    for (const { name } of list) seen.add(name.toLowerCase())
  }
  if (tools.length > MOST_APP_TOOLS) throw new TooMuch('appTools', tools.length, 'tools', MOST_APP_TOOLS)
  return tools
}
