import { readdirSync, readFileSync } from 'node:fs'
import type { SourceTool, ToolSource } from '../../services/tools/sources.ts'

interface ToolList {
  server: string
  instructions?: string
  tools: Array<{ name: string, description?: string, inputSchema: object, annotations?: { readOnlyHint?: boolean } }>
}

const folder = new URL('../fakes/tool-lists/', import.meta.url)
const read = (name: string) => JSON.parse(readFileSync(new URL(name, folder), 'utf8'))
/** The second were written when the words for finding tools were done, and none of these was changed for them. */
const QUESTIONS = ['questions.json', 'fresh-questions.json']

interface Question {
  question: string
  /** The tools that answer it. */
  tools: string[]
}
export const questions = (): Question[] => read(QUESTIONS[0])
export const freshQuestions = (): Question[] => read(QUESTIONS[1])

/** The tool lists of real tool servers, as sources of tools that answer with their names and inputs; what reads is allowed. */
export const realServers = (): ToolSource[] =>
  readdirSync(folder).filter((name) => name.endsWith('.json') && !QUESTIONS.includes(name)).map((name) => {
    const { server, instructions, tools }: ToolList = read(name)
    return {
      name: server,
      ...(instructions !== undefined && { instructions }),
      available: true,
      tools: tools.map(({ name, description = name, inputSchema, annotations }): SourceTool => ({
        name,
        description,
        inputSchema: inputSchema as never,
        identity: `${server} ${name}`,
        effect: annotations?.readOnlyHint ? 'read' : 'external',
        widestScope: 'tool',
        checksInput: true,
        execute: async (input) => ({ content: [{ type: 'text', text: `${name} was called with ${JSON.stringify(input)}` }] })
      }))
    }
  })
