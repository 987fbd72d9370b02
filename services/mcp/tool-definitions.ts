import { createHash } from 'node:crypto'
import { isObject } from '../lib/json.ts'
import { namesOf } from './entry-view.ts'
import { canonicalJson } from '../lib/canonical-json.ts'
import { withoutNulls } from './envelope.ts'

/** A tool as its server describes it. Texts are cut to the limits below. */
export interface ToolDefinition {
  /** The tool's name on the server. The agent might know the tool by another name. */
  name: string
  description: string
  inputSchema: Record<string, unknown>
  annotations?: Record<string, unknown>
  /** True if the server runs the tool only as an MCP task. */
  isTask?: true
  /** The SHA-256 of the fields above. It does not depend on the order of lists, which servers can change. */
  digest: string
  /** The tool's name for display. */
  title?: string
  /** The tool's icons, and in `_meta` further data for applications. */
  icons?: object[]
  _meta?: object
}

/** Whether the user has accepted a tool in its present state, has never accepted it, or has accepted an earlier state. */
export type ToolAcceptance = 'accepted' | 'new' | 'changed'

/** True if the server declares that the tool only reads. */
export const claimsToRead = ({ annotations }: Pick<ToolDefinition, 'annotations'>): boolean => annotations?.readOnlyHint === true

/**
 * True if the server declares that the tool might destroy something. MCP assumes this for a tool that declares nothing; this service does
 * not.
 */
export const claimsToDestroy = ({ annotations }: Pick<ToolDefinition, 'annotations'>): boolean =>
  annotations?.destructiveHint === true && annotations.readOnlyHint !== true

export const MAX_TOOLS = 1_000
const LONGEST_NAME = 256
const LONGEST_TITLE = 200
const LONGEST_DESCRIPTION = 8 * 1024
const LARGEST_SCHEMA = 256 * 1024
/** The most characters of JSON in all definitions of a server together. */
const LARGEST_ALL = 16 * 1024 * 1024

/**
 * Reads the entries of a server's tool list, at most MAX_TOOLS. If a name occurs twice, the first entry is used. An entry that cannot be
 * used is left out with a warning, and so is a tool that runs only as a task, unless `runsTasks` is true. Schemas of any dialect of JSON
 * Schema are kept, with `type: 'object'` at the root if it is missing.
 */
export function readDefinitions (entries: unknown[], runsTasks = false): { definitions: ToolDefinition[], warnings: string[] } {
  const found = new Map<string, ToolDefinition>()
  const warnings: string[] = []
  let room = LARGEST_ALL
  for (const each of entries) {
    const { name, title, description, inputSchema, annotations, execution } = isObject(each) ? each : {}
    const isTask = isObject(execution) && execution.taskSupport === 'required'
    if (typeof name !== 'string' || name === '' || name.length > LONGEST_NAME) {
      warnings.push('A tool without a name, or with a name that is too long, was left out.')
    } else if (found.has(name)) warnings.push(`The tool ${JSON.stringify(name)} is listed twice; the first is used.`)
    else if (JSON.stringify(inputSchema ?? {}).length > LARGEST_SCHEMA) {
      warnings.push(`The tool ${JSON.stringify(name)} was left out: its schema is larger than ${LARGEST_SCHEMA / 1024} KiB.`)
    } else if (isTask && !runsTasks) {
      warnings.push(`The tool ${JSON.stringify(name)} was left out: it runs only as a task, and the server runs no tasks.`)
    } else if (found.size === MAX_TOOLS) {
      warnings.push(`The server offers ${entries.length} tools; the first ${MAX_TOOLS} are used.`)
      break
    } else {
      const text = [description, title, name].find((text) => typeof text === 'string' && text !== '') as string
      const definition = {
        name,
        description: text.slice(0, LONGEST_DESCRIPTION),
        // Providers refuse a tool whose input schema is not of type object.
        inputSchema: { type: 'object', ...isObject(inputSchema) ? inputSchema : {} },
        ...isObject(annotations) && { annotations: withoutNulls(annotations) as Record<string, unknown> },
        ...isTask && { isTask }
      }
      room -= JSON.stringify(definition).length
      if (room < 0) {
        warnings.push(`The definitions are larger than ${LARGEST_ALL / 1024 / 1024} MiB; the first ${found.size} tools are used.`)
        break
      }
      const digest = createHash('sha256').update(canonicalJson(inAnyOrder(definition))).digest('hex')
      const shown = [title, definition.annotations?.title].find((text) => typeof text === 'string' && text.trim() !== '')
      const { icons, _meta } = namesOf(each as Record<string, unknown>)
      found.set(name, {
        ...definition,
        digest,
        ...shown !== undefined && { title: (shown as string).slice(0, LONGEST_TITLE) },
        ...icons && { icons },
        ..._meta && { _meta }
      })
    }
  }
  return { definitions: [...found.values()], warnings: [...new Set(warnings)].slice(0, 20) }
}

/** Matches a list of words within a text: `a, b`, `'a'|'b'`, `a,b`. */
const LISTED = /(?<![\w.:*-])["'`]?[\w.:*-]+["'`]?(?:\s*[,|]\s*["'`]?[\w.:*-]+["'`]?)+/g

/**
 * Returns a definition with sorted lists, and with sorted word lists within texts. Some servers keep these in sets, whose order changes at
 * each start without a change in meaning.
 */
function inAnyOrder (value: unknown): unknown {
  if (typeof value === 'string') return value.replace(LISTED, (list) => list.split(/\s*[,|]\s*/).sort().join(', '))
  if (Array.isArray(value)) {
    const texts = value.map((each) => canonicalJson(inAnyOrder(each)))
    return texts.sort()
  }
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, inAnyOrder(each)]))
}
