import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import { FIND_TOOLS, USE_TOOL } from '../../contracts/model-texts.ts'
import type { Tool } from '../../contracts/tool.ts'
import { readNearlyJson } from '../lenient-input.ts'

/** The number of built-in tools that every model is told of. */
const MOST_TOLD = 21
/** Tokens of a context window in which only the tools that most work needs are described. */
const SMALL_WINDOW = 16_384

/** Tools as a model is told of them. */
export interface Deferral {
  /** The tools that are described. */
  told: Tool[]
  /** The names of the tools that are found with FIND_TOOLS and called with USE_TOOL; absent for none. */
  deferred?: string[]
}

/**
 * Divides the tools of a run: those that most runs do not need are not described to the model when there are many, and in a small window
 * only those that most work needs are. `finders` are the tools that reach the others; without them all are told. A model without a limit
 * (`window` Infinity) costs nothing and is told of all.
 */
export function deferTools (tools: Tool[], { finders, window }: { finders: Tool[], window: number }): Deferral {
  const own = tools.filter(({ identity }) => identity === undefined)
  const isLeftOut = ({ identity, use }: Tool) =>
    identity === undefined && (window <= SMALL_WINDOW ? use !== 'always' : own.length > MOST_TOLD && use === 'seldom')
  const deferred = tools.filter(isLeftOut).map(({ name }) => name)
  if (deferred.length === 0 || finders.length < 2 || window === Infinity) return { told: tools }
  const named = finders.map((tool) =>
    tool.name === FIND_TOOLS ? { ...tool, description: `${tool.description} There are: ${deferred.join(', ')}.` } : tool
  )
  return { told: [...tools.filter((tool) => !isLeftOut(tool)), ...named], deferred }
}

/** Returns the call that an input of USE_TOOL stands for, with its input as JSON text; undefined when it names none of the tools. */
export function callMeant (text: string, toolMeant: (name: string) => string | undefined): { toolName: string, input: string } | undefined {
  const value = readNearlyJson(text)?.value
  if (typeof value !== 'object' || value === null) return undefined
  const { toolName: named, input = {} } = value as Record<string, unknown>
  const toolName = typeof named === 'string' ? toolMeant(named) : undefined
  if (toolName === undefined || toolName === USE_TOOL) return undefined
  return { toolName, input: typeof input === 'string' ? input : JSON.stringify(input) }
}

/** Returns a prompt in which the calls of deferred tools are calls of USE_TOOL, as the model made them. */
export function asToldTools<P extends LanguageModelV4Prompt | undefined> (prompt: P, deferred: readonly string[]): P {
  if (deferred.length === 0 || prompt === undefined) return prompt
  const isDeferred = (part: { type: string }): part is { type: 'tool-call' | 'tool-result', toolName: string } =>
    (part.type === 'tool-call' || part.type === 'tool-result') && deferred.includes((part as { toolName?: string }).toolName!)
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
