import type { ToolContext, BuiltinTool, ToolOutput } from '../contracts/tool.ts'
import { ToolFailed } from './tool-errors.ts'
import { Type, type Static } from '@sinclair/typebox'
import { jsonBytes } from '../lib/json.ts'
import { isForUser, FITTING_BYTES, fittingEnd, imageOf } from './model-output.ts'

type Json = Record<string, unknown>

/** A connected tool server that has resources. */
export interface ResourceServer {
  name: string
  /** True if the user wants to be asked before every call to the server. */
  asksFirst: boolean
  /** Sends an MCP request and returns the result with secrets redacted. Throws ToolFailed, or the signal's abort reason. */
  request(method: string, params: Json, context: Pick<ToolContext, 'signal' | 'progress'>): Promise<Json>
}

/** Returns the servers that have resources now, in the order of config.json. */
export type ResourceServers = () => ResourceServer[]

/**
 * Returns the policy of the resource tools: they are offered if a server has resources, and need approvals if one of the servers asks
 * first.
 */
const policyFor = (servers: ResourceServers): BuiltinTool['policy'] => ({
  effect: 'read',
  needs: ['resources'],
  get permission () {
    return servers().some(({ asksFirst }) => asksFirst) ? 'ask' as const : undefined
  }
})

/** Returns the server with this name; without a name, the only server. Throws ToolFailed. */
function chosen (all: ResourceServer[], name: string | undefined): ResourceServer {
  const known = all.map((server) => server.name).join(', ') || 'none'
  const server = name === undefined && all.length === 1 ? all[0] : all.find((each) => each.name === name)
  if (server !== undefined) return server
  throw new ToolFailed(
    name === undefined
      ? `Say which server has the resource: ${known}.`
      : `There is no connected tool server ${JSON.stringify(name)} with resources. The servers are: ${known}.`
  )
}

const ListInput = Type.Object({
  server: Type.Optional(Type.String({ minLength: 1, description: 'Tool server whose resources to list. Default: all servers.' })),
  cursor: Type.Optional(
    Type.String({ minLength: 1, maxLength: 4_096, description: 'Where to go on: the nextCursor of an earlier answer, with its server.' })
  )
}, { additionalProperties: false })

/** The most entries of one server in an answer, and the most characters of each of their texts. */
const MOST_ENTRIES = 50
const LONGEST_TEXT = 300
/** The longest address of an entry, in characters. An entry with a longer one is left out: a shortened address could not be read. */
const LONGEST_URI = 2_000

/**
 * Output: `{servers: [{server, resources: [{uri, name, title?, description?, mimeType?, size?}], templates?: [{uriTemplate, …}],
 * nextCursor?} | {server, error}]}`. A cursor combines the server's own cursor with the number of entries of that page that were shown.
 */
export function createListResources (servers: ResourceServers): BuiltinTool<Static<typeof ListInput>> {
  return {
    policy: policyFor(servers),
    effects: { source: 'server' },
    model: {
      name: 'listResources',
      description: 'List what the connected tool servers have to read: their resources, such as documents, tables and logs, and ' +
        'templates of the addresses of further ones. Read one with readResource. A long list is answered in parts: call again with ' +
        'the server and its nextCursor.',
      schema: ListInput,
      use: 'seldom'
    },
    says: {
      en: { label: 'List what tool servers offer to read', does: 'list what tool servers offer to read' },
      about: ['server']
    },
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
    // Servers without templates might refuse this request.
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

/** Returns the entries of a list that have a usable address and are not for the user alone. */
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

const ReadInput = Type.Object({
  uri: Type.String({ minLength: 1, maxLength: 4_096, description: 'Address of the resource.' }),
  server: Type.Optional(
    Type.String({ minLength: 1, description: 'Tool server that has it; needed when several servers have resources.' })
  ),
  offset: Type.Optional(
    Type.Integer({ minimum: 0, description: 'To read on: the nextOffset of the answer.' })
  )
}, { additionalProperties: false })

/** The most parts of one resource that are shown, and the most base64 characters of all its images. */
const MOST_PARTS = 100
const LARGEST_IMAGES = 5 * 1024 * 1024

/**
 * Output: `{server, uri, content: [{type: 'resource', resource: {uri, mimeType?, text}}, {type: 'image', mimeType, data}, …],
 * nextOffset?}`: as much text as fits, images, and the size of each other file. `offset` counts characters of all texts of the resource.
 */
export function createReadResource (servers: ResourceServers): BuiltinTool<Static<typeof ReadInput>> {
  return {
    policy: policyFor(servers),
    effects: { source: 'server' },
    model: {
      name: 'readResource',
      description: 'Read a resource of a connected tool server by its uri: one that listResources names, one made from a template, or ' +
        'one that the result of a tool links to (type resource_link). Images are shown to you. Long text is answered in parts: read ' +
        'on with offset set to the nextOffset of the answer.',
      schema: ReadInput,
      use: 'seldom'
    },
    says: { en: { label: 'Read something of a tool server', does: 'read of a tool server' }, about: ['uri'] },
    async execute ({ uri, server: name, offset = 0 }, context) {
      const server = chosen(servers(), name)
      const { contents } = await server.request('resources/read', { uri }, context)
      if (!Array.isArray(contents)) throw new ToolFailed(`${server.name} answered without the contents of ${JSON.stringify(uri)}.`)
      return { server: server.name, uri, ...partsFrom(contents.slice(0, MOST_PARTS), offset) }
    }
  }
}

/** Returns the parts of a resource: as much text from `offset` on as fits. Images and notes are only in the answer for offset 0. */
function partsFrom (contents: Json[], offset: number): ToolOutput {
  const content: Json[] = []
  let position = 0
  let room = FITTING_BYTES
  let images = 0
  let nextOffset: number | undefined
  for (const part of contents) {
    const { uri, mimeType, text, blob } = part ?? {}
    const about = { ...typeof uri === 'string' && { uri }, ...typeof mimeType === 'string' && { mimeType } }
    if (typeof text === 'string') {
      const begin = Math.max(offset - position, 0)
      const end = fittingEnd(text, begin, Math.max(room, 1))
      if (nextOffset === undefined && (begin < text.length || (text === '' && offset === 0))) {
        const shown = text.slice(begin, end)
        content.push({ type: 'resource', resource: { ...about, text: shown } })
        room -= jsonBytes(shown)
        if (end < text.length || room <= 0) nextOffset = position + end
      }
      position += text.length
    } else if (typeof blob === 'string' && offset === 0) {
      const image = imageOf({ type: 'resource', resource: { ...about, blob } })
      if (image !== undefined) images += image.data.length
      if (image === undefined) content.push({ type: 'resource', resource: { ...about, size: Buffer.byteLength(blob, 'base64') } })
      else if (images > LARGEST_IMAGES) content.push({ type: 'text', text: '[an image is left out: the images are larger than 5 MiB]' })
      else content.push({ ...image, data: image.data })
    }
  }
  return { content, ...nextOffset !== undefined && nextOffset < position && { nextOffset } }
}
