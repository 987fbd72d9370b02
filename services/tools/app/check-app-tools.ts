import type { RunOptions } from '../../../schemas/run-options.ts'
import { defineError } from '../../lib/service-error.ts'
import type { ToolHost } from '../host.ts'
import { schemaProblem } from '../input-validator.ts'
import { appTool } from './app-tool.ts'

const BadAppTool = defineError('ERR_INVALID_REQUEST', 'options.appTools[%d] (%s) %s.')

/** Characters of JSON that the schema of one tool, and of all tools of an application, may have. */
const LARGEST_SCHEMA = 32 * 1024
const LARGEST_SCHEMAS = 256 * 1024
/** Names of tools that the service gives to runs of tasks, and to runs that may ask the user. */
const RESERVED = ['updatePhase', 'askUser']

/** Names that differ only in case look alike to users and models. */
const folded = (name: string) => name.toLowerCase()

/**
 * Checks the tools of an application: each has a name of its own, which no other tool has in any case, and a schema that describes an
 * object and can be compiled. Throws BadAppTool (400).
 */
export function checkAppTools ({ appTools = [], app }: Pick<RunOptions, 'appTools' | 'app'>, host: Pick<ToolHost, 'names'>): void {
  const taken = new Set([...appTools.length === 0 ? [] : host.names().known, ...RESERVED].map(folded))
  let characters = 0
  for (const [at, definition] of appTools.entries()) {
    const refuse = (why: string) => {
      throw new BadAppTool(at, definition.name, why)
    }
    const name = folded(definition.name)
    if (taken.has(name) || definition.name in Object.prototype) refuse('has the name of another tool; choose another name')
    taken.add(name)
    const { length } = JSON.stringify(definition.inputSchema)
    characters += length
    if (length > LARGEST_SCHEMA) refuse(`has an inputSchema of more than ${LARGEST_SCHEMA} characters`)
    if (characters > LARGEST_SCHEMAS) refuse(`makes the schemas of all tools longer than ${LARGEST_SCHEMAS} characters`)
    if (definition.inputSchema.type !== 'object') refuse('needs an inputSchema with "type": "object"')
    const problem = schemaProblem(appTool(definition, app))
    if (problem !== undefined) refuse(`has an inputSchema that cannot be used: ${problem}`)
  }
}
