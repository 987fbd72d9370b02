import { Type, type Static } from '@sinclair/typebox'
import { FIND_TOOLS, USE_TOOL } from '../../contracts/model-texts.ts'
import type { BuiltinTool, Tool, ToolContext } from '../../contracts/tool.ts'
import { ToolFailed } from '../tool-errors.ts'
import { briefDefinitions } from './describe-tool.ts'
import { createToolSearch } from './tool-index.ts'

const FindInput = Type.Object({
  query: Type.String({ minLength: 1, maxLength: 500, description: 'What the tool should do, or its name' })
}, { additionalProperties: false })

/** The most definitions in one answer. */
const MOST_FOUND = 5
/** The most further tools that an answer names, in addition to the defined ones. */
const MOST_OTHERS = 40

/** Creates the tool that returns the definitions of deferred tools, which are not described to the model in advance; see `deferTools`. */
export function createFindTools (
  { deferredTools }: { deferredTools: (context: Pick<ToolContext, 'runId' | 'deferred'>) => Tool[] }
): BuiltinTool<Static<typeof FindInput>> {
  const search = createToolSearch()
  return {
    model: {
      name: FIND_TOOLS,
      description: `Find further tools; call them with ${USE_TOOL}.`,
      schema: FindInput,
      use: 'finder'
    },
    says: { en: { label: 'Look for tools', does: 'find a tool for' } },
    policy: { effect: 'read' },
    async execute ({ query }, context) {
      const tools = deferredTools(context)
      const ranked = await search(tools, query)
      const found = ranked.slice(0, MOST_FOUND)
      const rest = [...new Set([...ranked, ...tools])].filter((tool) => !found.includes(tool)).map(({ model: { name } }) => name)
      const more = rest.length - MOST_OTHERS
      return {
        tools: briefDefinitions(found),
        ...(rest.length > 0 && { others: rest.slice(0, MOST_OTHERS) }),
        ...(more > 0 && { more: `There are ${more} further tools; look again in other words, or with the name of a service.` })
      }
    }
  }
}

const UseInput = Type.Object({
  toolName: Type.String({ minLength: 1 }),
  input: Type.Object({}, { additionalProperties: true })
}, { additionalProperties: false })

/**
 * Creates the tool through which a model calls a deferred tool. The service turns such a call into a call of the deferred tool before
 * anything else sees it, so `execute` runs only for names that no tool has.
 */
export function createUseTool (): BuiltinTool<Static<typeof UseInput>> {
  return {
    model: { name: USE_TOOL, description: 'Call a further tool.', schema: UseInput, use: 'finder' },
    says: { en: { label: 'Use a tool', does: 'use a tool' } },
    policy: { effect: 'read' },
    async execute ({ toolName }) {
      throw new ToolFailed(`There is no tool named ${JSON.stringify(toolName)}. Find one with ${FIND_TOOLS}.`)
    }
  }
}
