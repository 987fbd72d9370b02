import { isObject, parseJson } from '../lib/json.ts'
import { NotServers } from './mcp-errors.ts'

/** What of a README names servers: the entries with their names, of which one may be there twice, and the inputs of VS Code in them. */
export interface ReadmeServers {
  servers: Array<[name: string, entry: unknown]>
  /** What is said of each input, by its id. */
  inputs: Record<string, string>
}

const LONGEST_DESCRIPTION = 200

/**
 * Finds the servers in a configuration file of another program: `mcpServers` (Claude Desktop, Cursor), `servers`, also below `mcp` (VS
 * Code), or entries by name without these. Throws NotServers (400).
 */
export function findServers (file: Record<string, unknown>): ReadmeServers {
  const mcp = isObject(file.mcp) ? file.mcp : {}
  const objects = [file.mcpServers, file.servers, mcp.mcpServers, mcp.servers].filter((each) => each !== undefined)
  if (objects.length === 0) {
    if (isEntry(file)) throw new NotServers('an entry needs a name, as in {"mcpServers": {"name": {…}}}')
    const bare = [file, mcp].find((each) => Object.values(each).some(isEntry))
    if (bare === undefined) throw new NotServers('it has neither "mcpServers" nor "servers"')
    objects.push(bare)
  }
  const servers = objects.flatMap((object) => {
    if (!isObject(object)) throw new NotServers('"mcpServers" and "servers" are objects, of entries by name')
    return Object.entries(object)
  })
  if (servers.length === 0) throw new NotServers('it names no server')
  const inputs = [file.inputs, mcp.inputs].flatMap((list) => Array.isArray(list) ? list : []).filter(isObject)
  return {
    servers,
    inputs: Object.fromEntries(inputs.map(({ id, description }) => [String(id), String(description ?? '').slice(0, LONGEST_DESCRIPTION)]))
  }
}

const isEntry = (value: unknown) => isObject(value) && (value.command !== undefined || value.url !== undefined)

/** Strings, which stay, and comments and commas before a closing bracket, which go. */
const OUTSIDE_JSON = /"(?:[^"\\]|\\[^])*(?:"|$)|\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)|,(?=\s*[}\]])/g
const FENCED = /```[\w-]*\n([^]*?)(?:```|$)/

/**
 * Reads JSON as READMEs show it: fenced, with comments, commas before a closing bracket, and entries without the braces around them.
 * Throws NotServers (400), without words of the text, which may hold secrets.
 */
export function readReadmeText (text: string): Record<string, unknown> {
  const json = withoutComments(withoutComments((FENCED.exec(text)?.[1] ?? text).replace(/^\uFEFF/, ''))).trim().replace(/,$/, '')
  let problem = ''
  for (const candidate of [json, `{${json}}`]) {
    try {
      const value = parseJson(candidate)
      if (isObject(value)) return value
      problem ||= 'it is not an object of JSON'
    } catch (error) {
      problem ||= `it is not JSON (${(error as Error).message})${/[“”]/.test(json) ? ': its quotation marks are curly' : ''}`
    }
  }
  throw new NotServers(problem)
}

const withoutComments = (text: string) => text.replace(OUTSIDE_JSON, (part) => part.startsWith('"') ? part : '')
