import { createHash } from 'node:crypto'
import { canonicalJson } from '../lib/canonical-json.ts'

/** A tool as its server describes it, within limits. */
export interface Definition {
  /** As the server knows it. */
  name: string
  description: string
  inputSchema: Record<string, unknown>
  annotations?: Record<string, unknown>
  /** Changes when any of the above does. */
  digest: string
}

export const MOST_TOOLS = 128
const LONGEST_NAME = 256
const LONGEST_DESCRIPTION = 8 * 1024
const LARGEST_SCHEMA = 256 * 1024

/**
 * The tools in a server's lists: the first of each name, MOST_TOOLS of them. What cannot be used is left out, and said.
 * Schemas stay as they are, in whichever dialect.
 */
export function readDefinitions (listed: unknown[]): { definitions: Definition[], warnings: string[] } {
  const found = new Map<string, Definition>()
  const warnings: string[] = []
  for (const each of listed) {
    const { name, title, description, inputSchema, annotations } = isObject(each) ? each : {}
    if (typeof name !== 'string' || name === '' || name.length > LONGEST_NAME) {
      warnings.push('A tool without a name, or with one that is too long, was left out.')
    } else if (found.has(name)) warnings.push(`The tool ${JSON.stringify(name)} is there twice; the first is used.`)
    else if (JSON.stringify(inputSchema ?? {}).length > LARGEST_SCHEMA) {
      warnings.push(`The tool ${JSON.stringify(name)} was left out: its schema is larger than ${LARGEST_SCHEMA / 1024} KiB.`)
    } else if (found.size === MOST_TOOLS) {
      warnings.push(`The server offers ${listed.length} tools; the first ${MOST_TOOLS} are used.`)
      break
    } else {
      const said = [description, title, name].find((text) => typeof text === 'string' && text !== '') as string
      const definition = {
        name,
        description: said.slice(0, LONGEST_DESCRIPTION),
        // Providers refuse a tool whose input is not said to be an object.
        inputSchema: { type: 'object', ...isObject(inputSchema) ? inputSchema : {} },
        ...isObject(annotations) && { annotations }
      }
      found.set(name, { ...definition, digest: createHash('sha256').update(canonicalJson(definition)).digest('hex') })
    }
  }
  return { definitions: [...found.values()], warnings: [...new Set(warnings)].slice(0, 20) }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)
