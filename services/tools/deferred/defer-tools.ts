import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import { FIND_TOOLS, USE_TOOL } from '../../contracts/model-texts.ts'
import { isSourceTool, type Tool } from '../../contracts/tool.ts'
import { tokensIn } from '../../models/index.ts'
import { compactTool } from './describe-tool.ts'
import { readNearlyJson } from '../../lib/nearly-json.ts'

/** The size of a small context window, in tokens. In it only the tools that have a compact form are described, in that form. */
export const SMALL_WINDOW = 16_384
/**
 * The most tools of servers and of an application that are described to a model, and the share of its window that their definitions may
 * take.
 */
const MOST_FURTHER = 30
const FURTHER_SHARE = 0.1

/** The number of tools that a run may have beside those that are divided: the one for its structured answer. */
const OF_RUN = 1

/** The most tools that the error of a call names. */
const MOST_NAMED = 60

/** Which tools a model gets, and how. */
export interface Deferral {
  /** The tools that are described. */
  told: Tool[]
  /** The names of the tools that are found with FIND_TOOLS and called with USE_TOOL; absent for none. */
  deferred?: string[]
}

interface Room {
  /** The tools with which a model reaches the deferred ones: findTools and useTool. */
  finders: Tool[]
  /** The context window, in tokens. A model without a limit has Infinity. */
  window: number
  /** The most tools that the model takes. */
  most?: number
}

/**
 * Divides the tools of a run into those that are described to the model and deferred ones. Tools that most runs do not need are deferred.
 * The tools of servers are deferred if they and those of the application are more than MOST_FURTHER, or take more than FURTHER_SHARE of the
 * window. The application's tools are deferred only if they alone are too many. In a small window, only the tools with a compact form and
 * those of the application are described, the same in every run. If the model takes only `most` tools, further kinds are deferred until the
 * rest fits. Without finders, or for a model without a limit, all are described.
 */
export function deferTools (tools: Tool[], { finders, window, most = Infinity }: Room): Deferral {
  const isSmall = window <= SMALL_WINDOW
  const asTold = (some: Tool[]) => isSmall ? some.map(compactTool) : some
  if (finders.length < 2 || (window === Infinity && most === Infinity)) return { told: asTold(tools) }
  const further = tools.filter((tool) => !isOwn(tool))
  const areFew = (some: Tool[]) => some.length <= MOST_FURTHER && definitionTokens(some) <= window * FURTHER_SHARE
  const [servers, app] = [isSmall || !areFew(further), !areFew(further.filter(isOfApp))]
  const leavesOut = { servers, app, seldom: true, often: false, always: false }
  const isLeftOut = (tool: Tool) => leavesOut[kindOf(tool, isSmall)]
  const isTooMany = () => {
    const left = tools.filter((tool) => !isLeftOut(tool)).length
    return left + (left < tools.length ? finders.length : 0) + OF_RUN > most
  }
  for (const kind of ['servers', 'app', 'seldom', 'often'] as const) if (isTooMany()) leavesOut[kind] = true
  const deferred = tools.filter(isLeftOut)
  // Deferring a few small tools would take more room than describing them.
  const isWorthless = tools.length + OF_RUN <= most && definitionTokens(deferred) <= definitionTokens(finders)
  if (deferred.length === 0 || isWorthless) return { told: asTold(tools) }
  const described = asTold(tools.filter((tool) => !isLeftOut(tool)))
  // The tools of servers and of the application come and go, so they stand last: a provider caches the beginning.
  return {
    told: [...described.filter(isOwn), ...finders.map((tool) => naming(tool, deferred)), ...described.filter((tool) => !isOwn(tool))],
    deferred: deferred.map(({ model: { name } }) => name)
  }
}

type ToolKind = 'servers' | 'app' | 'seldom' | 'often' | 'always'

/** Returns the kind of a tool. The tools of a kind are deferred together. */
function kindOf (tool: Tool, isSmall: boolean): ToolKind {
  if (isOfApp(tool)) return 'app'
  if (!isOwn(tool)) return 'servers'
  if (isSmall) return tool.model.compact !== undefined ? 'always' : 'seldom'
  return tool.model.use === 'always' || tool.model.use === 'seldom' ? tool.model.use : 'often'
}

const isOwn = (tool: Tool) => !isSourceTool(tool)
const isOfApp = ({ execute }: Tool) => execute.by === 'app'

const counted = new WeakMap<Tool, number>()
/** Estimates the tokens of definitions. */
export function definitionTokens (tools: readonly Tool[]): number {
  return tools.reduce((sum, tool) => {
    const { name, description, schema: inputSchema } = tool.model
    const tokens = counted.get(tool) ?? tokensIn(JSON.stringify({ name, description, inputSchema }))
    counted.set(tool, tokens)
    return sum + tokens
  }, 0)
}

/**
 * Returns a finder whose description names the deferred tools. The tools of servers come and go, so they are named in the prompt instead.
 */
function naming (tool: Tool, deferred: Tool[]): Tool {
  if (tool.model.name !== FIND_TOOLS) return tool
  const names = deferred.filter((each) => isOwn(each) || isOfApp(each)).map(({ model: { name } }) => name)
  const kinds = [...names, ...names.length < deferred.length ? ['the tools of tool servers'] : []]
  return { ...tool, model: { ...tool.model, description: `${tool.model.description} There are: ${kinds.join(', ')}.` } }
}

/** Returns the call that a call of USE_TOOL stands for, with its input as JSON text; undefined if it names none of the tools. */
export function callMeant (text: string, toolMeant: (name: string) => string | undefined): { toolName: string, input: string } | undefined {
  const value = readNearlyJson(text)?.value
  if (typeof value !== 'object' || value === null) return undefined
  const { toolName: named, input = {} } = value as Record<string, unknown>
  const toolName = typeof named === 'string' ? toolMeant(named) : undefined
  if (toolName === undefined || toolName === USE_TOOL) return undefined
  return { toolName, input: typeof input === 'string' ? input : JSON.stringify(input) }
}

/** Returns a prompt in which calls of deferred tools are calls of USE_TOOL again, as the model made them. */
export function asToldTools<P extends LanguageModelV4Prompt | undefined> (prompt: P, deferred: readonly string[]): P {
  if (deferred.length === 0 || prompt === undefined) return prompt
  const names = new Set(deferred)
  const isDeferred = (part: { type: string }): part is { type: 'tool-call' | 'tool-result', toolName: string } =>
    (part.type === 'tool-call' || part.type === 'tool-result') && names.has((part as { toolName?: string }).toolName!)
  return prompt.map((message) => {
    if (message.role === 'system' || !message.content.some(isDeferred)) return message
    const content = message.content.map((part) => {
      if (!isDeferred(part)) return part
      const { toolName } = part
      return part.type === 'tool-call' && 'input' in part
        ? { ...part, toolName: USE_TOOL, input: { toolName, input: part.input } }
        : { ...part, toolName: USE_TOOL }
    })
    return { ...message, content } as typeof message
  }) as P
}

/** Returns the names of tools for the error of a call; if there are too many, only the built-in ones. */
export function toolNames (tools: readonly Tool[]): string {
  const named = tools.length <= MOST_NAMED ? tools : tools.filter(isOwn)
  const others = tools.length - named.length
  const more = others === 0 ? '' : `, and ${others} of tool servers, which ${FIND_TOOLS} finds`
  return named.map(({ model }) => model.name).join(', ') + more
}
