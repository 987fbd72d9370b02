import { readdirSync, readFileSync } from 'node:fs'
import { createToolSearch } from '../../services/tools/deferred/tool-index.ts'
import type { SourceTool } from '../../services/contracts/tool.ts'
import type { MergedTool, ToolSource } from '../../services/tools/sources.ts'

interface ToolList {
  server: string
  instructions?: string
  tools: Array<{ name: string, description?: string, inputSchema: object, annotations?: { readOnlyHint?: boolean } }>
}

const folder = new URL('../fakes/tool-lists/', import.meta.url)
const read = (name: string) => JSON.parse(readFileSync(new URL(name, folder), 'utf8'))
const QUESTIONS = ['questions.json', 'fresh-questions.json']
/** Questions that the developers of the search had not seen before they measured it. */
const UNREAD = 'unread-questions.json'

export interface Question {
  question: string
  /** The names of the tools that answer the question. */
  tools: string[]
}
export const questions = (): Question[] => QUESTIONS.flatMap(read)
export const unreadQuestions = (): Question[] => read(UNREAD)

/** Returns the tool lists of real tool servers, as sources of tools that answer with their names and inputs. Reading tools are allowed. */
export const realServers = (): ToolSource[] =>
  readdirSync(folder).filter((name) => name.endsWith('.json') && ![...QUESTIONS, UNREAD].includes(name)).map((name) => {
    const { server, instructions, tools }: ToolList = read(name)
    return {
      name: server,
      ...(instructions !== undefined && { instructions }),
      available: true,
      tools: tools.map(({ name, description = name, inputSchema, annotations }): SourceTool => ({
        model: { name, description, schema: inputSchema as never },
        policy: { effect: annotations?.readOnlyHint ? 'read' : 'external' },
        identity: `${server} ${name}`,
        checksInput: true,
        execute: async (input) => ({ content: [{ type: 'text', text: `${name} was called with ${JSON.stringify(input)}` }] })
      }))
    }
  })

/** Returns all tools of the servers, merged as for runs. */
export const realTools = (): MergedTool[] =>
  realServers().flatMap(({ name: source, tools }) => tools.map((tool) => ({ ...tool, source, qualified: `${source}_${tool.model.name}` })))

/** Searches all tools for each question. Returns the questions whose tools are not among the first five results, with these results. */
export async function missedQuestions (asked: Question[]) {
  const tools = realTools()
  const search = createToolSearch()
  const find = async ({ question }: Question) => (await search(tools, question)).slice(0, 5).map(({ model }) => model.name)
  const found = await Promise.all(asked.map(find))
  return asked.flatMap((each, at) => found[at].some((name) => each.tools.includes(name)) ? [] : [{ ...each, found: found[at] }])
}
