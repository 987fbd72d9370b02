import { Type, type Static } from '@sinclair/typebox'
import MiniSearch from 'minisearch'
import { FIND_TOOLS, USE_TOOL } from '../../contracts/model-texts.ts'
import type { Tool, ToolContext } from '../../contracts/tool.ts'
import { ToolFailed } from '../tool-errors.ts'
import { brief } from './brief-schema.ts'

const FindInput = Type.Object({
  query: Type.String({ minLength: 1, maxLength: 500, description: 'What the tool is to do, or its name' })
}, { additionalProperties: false })

/** Definitions in one answer. */
const MOST_FOUND = 5

/** Answers with the definitions of tools that models are not told of at first; see `deferTools`. */
export function createFindTools (
  { deferredTools }: { deferredTools: (context: Pick<ToolContext, 'runId'>) => Tool[] }
): Tool<Static<typeof FindInput>> {
  return {
    name: FIND_TOOLS,
    description: `Find further tools by what they do; call what was found with ${USE_TOOL}.`,
    inputSchema: FindInput,
    effect: 'read',
    isFinder: true,
    async execute ({ query }, context) {
      const tools = new Map(deferredTools(context).map((tool) => [tool.name, tool]))
      const index = new MiniSearch({ idField: 'name', fields: ['name', 'words', 'description', 'parameters'] })
      index.addAll([...tools.values()].map(({ name, description, inputSchema }) =>
        ({ name, words: name.replace(/[A-Z]/g, ' $&').replace(/[_.-]/g, ' '), description, parameters: JSON.stringify(inputSchema) })
      ))
      const options = { boost: { name: 3, words: 3, description: 2 }, prefix: true, fuzzy: 0.2 }
      const found = index.search(query, options).slice(0, MOST_FOUND).map(({ id }) => tools.get(id)!)
      return {
        tools: found.map(({ name, description, inputSchema }) => ({ name, description, input: brief(inputSchema) })),
        ...(found.length < tools.size && { others: [...tools.keys()].filter((name) => !found.some((each) => each.name === name)) })
      }
    }
  }
}

const UseInput = Type.Object({
  toolName: Type.String({ minLength: 1, description: 'Its name' }),
  input: Type.Object({}, { additionalProperties: true, description: 'The input of that tool' })
}, { additionalProperties: false })

/**
 * Calls a tool that models are not told of. A call that names such a tool becomes a call of that tool before anything else sees it, so
 * this one runs only for names of no tool.
 */
export function createUseTool (): Tool<Static<typeof UseInput>> {
  return {
    name: USE_TOOL,
    description: `Call a tool that ${FIND_TOOLS} has found.`,
    inputSchema: UseInput,
    effect: 'read',
    isFinder: true,
    async execute ({ toolName }) {
      throw new ToolFailed(`There is no tool named ${JSON.stringify(toolName)}. Look with ${FIND_TOOLS} for what it is to do.`)
    }
  }
}
