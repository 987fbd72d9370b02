import { Type, type Static } from '@sinclair/typebox'
import { isForUser } from '../said-once.ts'
import type { Tool, ToolContext, ToolOutput } from '../../contracts/tool.ts'
import { chosen, forResources, type ResourceServer, type ResourceServers } from './resource-servers.ts'

type Json = Record<string, unknown>

const Input = Type.Object({
  server: Type.Optional(Type.String({ minLength: 1, description: 'Tool server whose resources to list. Default: all servers.' })),
  cursor: Type.Optional(
    Type.String({ minLength: 1, maxLength: 4_096, description: 'Where to go on: the nextCursor of an earlier answer, with its server.' })
  )
}, { additionalProperties: false })

/** Entries of one server in an answer, and characters of their texts. */
const MOST_ENTRIES = 50
const LONGEST_TEXT = 300
/** A longer address is left out: it could not be read by a shortened one. */
const LONGEST_URI = 2_000

/**
 * `{servers: [{server, resources: [{uri, name, title?, description?, mimeType?, size?}], templates?: [{uriTemplate, …}], nextCursor?} |
 * {server, error}]}`. A cursor holds the server's own cursor and how many entries of that page were shown.
 */
export function createListResources (servers: ResourceServers): Tool<Static<typeof Input>> {
  const { permission, ...rest } = forResources(servers)
  return {
    ...rest,
    get permission () {
      return permission()
    },
    name: 'listResources',
    description: 'List what the connected tool servers have to read: their resources, such as documents, tables and logs, and templates ' +
      'of the addresses of further ones. Read one with readResource. A long list is answered in parts: call again with the server ' +
      'and its nextCursor.',
    inputSchema: Input,
    target: ({ server }) => server,
    async execute ({ server, cursor }, context): Promise<ToolOutput> {
      if (server !== undefined || cursor !== undefined) return { servers: [await list(chosen(servers(), server), cursor, context)] }
      return {
        servers: await Promise.all(servers().map((each) =>
          list(each, undefined, context).catch((error) => {
            context.signal.throwIfAborted()
            return { server: each.name, error: (error as Error).message }
          })
        ))
      }
    }
  }
}

async function list (server: ResourceServer, cursor: string | undefined, context: ToolContext): Promise<Json> {
  const [, shown = '0', page = ''] = /^(\d{1,9}):(.*)$/s.exec(cursor ?? '') ?? []
  const from = Number(shown)
  const [found, templates] = await Promise.all([
    server.request('resources/list', page === '' ? {} : { cursor: page }, context),
    // Servers without templates may refuse this.
    cursor === undefined ? server.request('resources/templates/list', {}, context).catch(() => ({})) : {}
  ])
  const entries = entriesOf(found, 'resources', 'uri')
  const to = from + MOST_ENTRIES
  const next = to < entries.length
    ? `${to}:${page}`
    : typeof found.nextCursor === 'string' && found.nextCursor !== page ? `0:${found.nextCursor}` : undefined
  const further = entriesOf(templates, 'resourceTemplates', 'uriTemplate').slice(0, MOST_ENTRIES)
  return {
    server: server.name,
    resources: entries.slice(from, to),
    ...further.length > 0 && { templates: further },
    ...next !== undefined && { nextCursor: next }
  }
}

/** Returns the entries of a list that name an address, without those for the user alone. */
function entriesOf (result: Json, key: string, address: 'uri' | 'uriTemplate'): Json[] {
  const entries = result[key]
  if (!Array.isArray(entries)) return []
  return entries.flatMap((entry) => {
    const uri: unknown = entry?.[address]
    if (typeof uri !== 'string' || uri.length > LONGEST_URI || isForUser(entry)) return []
    const texts = ['name', 'title', 'description', 'mimeType'].filter((field) => typeof entry[field] === 'string')
    return [{
      [address]: uri,
      ...Object.fromEntries(texts.map((field) => [field, entry[field].slice(0, LONGEST_TEXT)])),
      ...typeof entry.size === 'number' && { size: entry.size }
    }]
  })
}
