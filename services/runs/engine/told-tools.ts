import { toolsLine } from '../../contracts/model-texts.ts'
import type { RunContext } from '../../contracts/run-events.ts'
import { isSourceTool, needsAny, type Tool, type ToolNeed } from '../../contracts/tool.ts'
import type { ContextWindows, Registry } from '../../models/index.ts'
import { definitionTokens, deferTools, describeTool, type Skill, skillLines, SMALL_WINDOW, type ToolHost } from '../../tools/index.ts'
import type { ObjectAnswer } from '../answers/object-answer.ts'

/**
 * The context window of a cloud model is looked up unless the assumed window has room for this many times the tokens of the tool
 * definitions.
 */
const LOOK_UP_AT = 5

interface Parts {
  host: Pick<ToolHost, 'finders' | 'describe'>
  registry: Pick<Registry, 'roles' | 'reach' | 'candidates'> & ContextWindows
}

async function windowFor (tools: Tool[], registry: Parts['registry'], signal: AbortSignal): Promise<number> {
  const id = registry.roles().capable
  const tokens = definitionTokens(tools.filter(isSourceTool)) * LOOK_UP_AT
  return registry.contextWindow(id, registry.reach(id) === 'cloud' ? tokens : Infinity, signal)
}

/**
 * Divides the tools of a run into tools that are described to the model and tools that the model must find first. Also returns the
 * description of the tool servers. The context window of a local model server might be small, so it is always looked up.
 */
export async function toldTools (
  tools: Tool[],
  { host, registry }: Parts,
  signal: AbortSignal
): Promise<ReturnType<typeof deferTools> & { servers: string, window: number }> {
  const window = await windowFor(tools, registry, signal)
  const divided = deferTools(tools, { finders: host.finders(), window, most: registry.mostTools(registry.candidates('capable')) })
  return { ...divided, servers: host.describe(tools, { found: new Set(divided.deferred), window }), window }
}

/** Whether the model of a run has a small context window and therefore gets shorter prompts. */
export async function hasSmallWindow ({ registry }: Pick<Parts, 'registry'>, signal: AbortSignal): Promise<boolean> {
  return await windowFor([], registry, signal) <= SMALL_WINDOW
}

/** What the model of a run is told of its tools and skills. */
export interface DescribedTools {
  /** The fields of the context of the run. */
  context: Pick<RunContext, 'tools' | 'deferred' | 'skills'>
  /** The description of the tool servers; '' for none. */
  servers: string
  /** The instructions for the structured answer; undefined if the run must give none. */
  answer?: string
  /** The model has a small context window, and gets shorter prompts. */
  isCompact: boolean
}

/**
 * Returns what the model of a new run is told of its tools and of the skills that it can use. Tools with a condition in `missing` are left
 * out and, unless the run can ask the user (`mayAsk`), tools whose calls the user answers.
 */
export async function describeRunTools (
  { host, registry, skills, missing, mayAsk, owed }: Parts & {
    host: Pick<ToolHost, 'offered'>,
    skills: readonly Skill[],
    missing: readonly ToolNeed[],
    mayAsk: boolean,
    /** The structured answer that the run must give. */
    owed: ObjectAnswer | undefined
  },
  signal: AbortSignal
): Promise<DescribedTools> {
  const unmet: ToolNeed[] = skills.length > 0 ? [...missing] : [...missing, 'skills']
  const tools = host.offered().filter((tool) => (mayAsk || tool.execute.by !== 'user') && !needsAny(tool, ...unmet))
  const { servers, window, ...divided } = await toldTools(tools, { host, registry }, signal)
  const isCompact = window <= SMALL_WINDOW
  const lines = tools.some((tool) => needsAny(tool, 'skills')) ? skillLines(skills, isCompact) : []
  return {
    context: {
      tools: [...divided.told.map(describeTool), ...owed === undefined || tools.length === 0 ? [] : [owed.tool]],
      deferred: divided.deferred,
      skills: lines.length > 0 ? lines : undefined
    },
    servers,
    answer: owed?.instructions(tools.length > 0),
    isCompact
  }
}

/** The part of a context that depends on the number of tools. */
type ToolContext = Pick<RunContext, 'system' | 'tools' | 'deferred'>

/**
 * Returns the context with fewer tools, after a provider has refused their number: as many as the models are now known to accept. Returns
 * undefined if there cannot be fewer.
 */
export async function withFewerTools<C extends ToolContext> (
  context: C,
  { host, registry }: Parts & { host: Pick<ToolHost, 'offered'> },
  signal: AbortSignal
): Promise<C | undefined> {
  const described = new Map(context.tools.map((tool) => [tool.name, tool]))
  const before = new Set(context.deferred)
  const tools = host.offered().filter(({ model: { name } }) => described.has(name) || before.has(name))
  const { told, deferred = [], servers } = await toldTools(tools, { host, registry }, signal)
  if (deferred.length <= before.size) return undefined
  const divided = new Set([...deferred, ...told.map(({ model: { name } }) => name)])
  const ofRun = context.tools.filter(({ name }) => !divided.has(name))
  const isKnown = ({ model: { name, use } }: Tool) => use !== 'finder' && described.has(name)
  const next = [...told.map((tool) => isKnown(tool) ? described.get(tool.model.name)! : describeTool(tool)), ...ofRun]
  const changes = [
    [host.describe(tools, { found: before, window: await windowFor(tools, registry, signal) }), servers],
    [context.tools, next].map((some) => toolsLine(some.map(({ name }) => name)))
  ].filter(([old]) => old !== '')
  const system = context.system.map((text) => changes.reduce((whole, [old, now]) => whole.replace(old, () => now), text))
  return { ...context, system, tools: next, deferred }
}
