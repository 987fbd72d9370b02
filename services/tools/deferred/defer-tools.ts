import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import { FIND_TOOLS, USE_TOOL } from '../../contracts/model-texts.ts'
import { isSourceTool, type Tool } from '../../contracts/tool.ts'
import { tokensIn } from '../../models/index.ts'
import { compactTool } from './describe-tool.ts'
import { readNearlyJson } from '../../lib/nearly-json.ts'

/**
 * The largest context window, in tokens, that counts as small. With a small window, a model gets only tools that have a compact form, in
 * that form.
 */
export const SMALL_WINDOW = 16_384
/**
 * The most tools of tool servers and of the application together that are described to a model, and the share of the context window that
 * their definitions can take.
 */
const MOST_FURTHER = 30
const FURTHER_SHARE = 0.1

/** The number of tools that a run can have in addition to the divided ones: the tool for its structured answer. */
const OF_RUN = 1

/** The most tool names in the error of a call. */
const MOST_NAMED = 60

/** The division of a run's tools into those that are described to the model and the deferred ones, whose descriptions it must look up. */
interface Deferral {
  /** The tools that are described to the model. */
  told: Tool[]
  /** The names of the deferred tools, which the model finds with FIND_TOOLS and calls with USE_TOOL; absent if there are none. */
  deferred?: string[]
}

interface Room {
  /** The tools with which a model reaches deferred tools: findTools and useTool. */
  finders: Tool[]
  /** The context window in tokens; Infinity for a model without a limit. */
  window: number
  /** The most tools that the model accepts. */
  most?: number
}

/**
 * Divides the tools of a run into tools that are described to the model and deferred ones. Tools that most runs do not need are deferred.
 * Tools of tool servers are deferred if they and the application's tools number more than MOST_FURTHER, or take more than FURTHER_SHARE of
 * the window. The application's tools are deferred only if they alone exceed these limits. In a small window, only the application's tools
 * and tools with a compact form are described. If the model accepts at most `most` tools, more kinds are deferred until the rest fits.
 * Without finders, or for a model without limits, all tools are described.
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
  // Tools of tool servers and of the application change, so they come last: providers cache the beginning of the prompt.
  return {
    told: [...described.filter(isOwn), ...finders.map((tool) => naming(tool, deferred)), ...described.filter((tool) => !isOwn(tool))],
    deferred: deferred.map(({ model: { name } }) => name)
  }
}

type ToolKind = 'servers' | 'app' | 'seldom' | 'often' | 'always'

/** Returns the kind of a tool. All tools of a kind are deferred together. */
function kindOf (tool: Tool, isSmall: boolean): ToolKind {
  if (isOfApp(tool)) return 'app'
  if (!isOwn(tool)) return 'servers'
  if (isSmall) return tool.model.compact !== undefined ? 'always' : 'seldom'
  return tool.model.use === 'always' || tool.model.use === 'seldom' ? tool.model.use : 'often'
}

const isOwn = (tool: Tool) => !isSourceTool(tool)
const isOfApp = ({ execute }: Tool) => execute.by === 'app'

const counted = new WeakMap<Tool, number>()
/** Estimates the number of tokens that the definitions of tools take. */
export function definitionTokens (tools: readonly Tool[]): number {
  return tools.reduce((sum, tool) => {
    const { name, description, schema: inputSchema } = tool.model
    const tokens = counted.get(tool) ?? tokensIn(JSON.stringify({ name, description, inputSchema }))
    counted.set(tool, tokens)
    return sum + tokens
  }, 0)
}

/**
 * Returns findTools with the deferred tools named in its description, and any other tool unchanged. Tools of tool servers change, so their
 * names are in the prompt instead.
 */
function naming (tool: Tool, deferred: Tool[]): Tool {
  if (tool.model.name !== FIND_TOOLS) return tool
  const names = deferred.filter((each) => isOwn(each) || isOfApp(each)).map(({ model: { name } }) => name)
  const kinds = [...names, ...names.length < deferred.length ? ['the tools of tool servers'] : []]
  return { ...tool, model: { ...tool.model, description: `${tool.model.description} There are: ${kinds.join(', ')}.` } }
}

/**
 * Returns the call that the input of USE_TOOL names: the deferred tool, and its input as JSON text. Returns undefined if `text` names no
 * known tool.
 */
export function callMeant (text: string, toolMeant: (name: string) => string | undefined): { toolName: string, input: string } | undefined {
  const value = readNearlyJson(text)?.value
  if (typeof value !== 'object' || value === null) return undefined
  const { toolName: named, input = {} } = value as Record<string, unknown>
  const toolName = typeof named === 'string' ? toolMeant(named) : undefined
  if (toolName === undefined || toolName === USE_TOOL) return undefined
  return { toolName, input: typeof input === 'string' ? input : JSON.stringify(input) }
}

/** Returns a prompt in which the calls of deferred tools, and their results, are calls of USE_TOOL again, as the model made them. */
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

/** Returns the names of tools for the error of a call. If there are too many, only the built-in tools are named, and the others counted. */
export function toolNames (tools: readonly Tool[]): string {
  const named = tools.length <= MOST_NAMED ? tools : tools.filter(isOwn)
  const others = tools.length - named.length
  const more = others === 0 ? '' : `, and ${others} of tool servers, which ${FIND_TOOLS} finds`
  return named.map(({ model }) => model.name).join(', ') + more
}
