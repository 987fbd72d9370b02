import type { ResourceEntry, ResourceTemplate, ResourceView } from '../../schemas/mcp-resources.ts'
import type { Clock } from '../lib/clock.ts'
import { withDeadline } from '../lib/deadline.ts'
import { isObject } from '../lib/json.ts'
import { defineError } from '../lib/service-error.ts'
import type { ResourceServer } from '../tools/index.ts'
import { namesOf, NO_ANSWER, readPages, whyUnanswered, withoutStop } from './entry-view.ts'
import type { ToolServer } from './tool-server.ts'

const ResourceFailed = defineError('ERR_RESOURCE_FAILED', 'The tool server "%s" did not give the resource %s: %s.')

type Json = Record<string, unknown>

/** The time limits for the lists of a server, and for reading a resource, in milliseconds. */
const LIST_MS = 5_000
const READ_MS = 30_000
const MAX_PAGES = 20
const MOST_ENTRIES = 1_000
const LONGEST_URI = 4_096
const LONGEST_TEXT = 1_000
const MOST_PARTS = 100
/** The most characters of all contents of a resource together. */
const LARGEST = 5_000_000
/** The most characters of the JSON of a `_meta` or `annotations`. A larger value is left out. */
const LARGEST_META = 16 * 1024

interface ResourcesOfServers {
  resources: ResourceEntry[]
  templates: ResourceTemplate[]
  failed: Array<{ server: string, error: string }>
  cut: string[]
}

interface Parts {
  servers: () => ResourceServer[]
  /** Returns a server by its name. Throws ToolServerNotFound (404). */
  find: (name: string) => Pick<ToolServer, 'status' | 'error'>
  clock: Clock
}

/** Lists and reads the resources of connected tool servers, for people and applications. Models use tools of their own for this. */
export function createServerResources ({ servers, find, clock }: Parts) {
  /** Returns a clause that says why a server offers no resources: it is not connected, or has none. */
  function whyNone (name: string): string {
    const { status, error } = find(name)
    if (status === 'connected') return 'it has none'
    return error === undefined ? `it is not connected (${status}); GET /mcp/servers says more` : withoutStop(error)
  }

  /** Returns all entries of a server's list, page by page, up to MOST_ENTRIES. `method` requests the list, `key` names it in the answer. */
  async function pages (server: ResourceServer, method: string, key: string, signal: AbortSignal) {
    const ask = (cursor: Json) => server.request(method, cursor, { signal })
    const { all, isCut } = await readPages(ask, key, { pages: MAX_PAGES, most: MOST_ENTRIES })
    return { all: all.filter(isObject).slice(0, MOST_ENTRIES), isCut }
  }

  async function ofServer (server: ResourceServer, signal: AbortSignal) {
    return withDeadline({ clock, ms: LIST_MS, signal, message: NO_ANSWER }, async (limit) => {
      const [listed, templates] = await Promise.all([
        pages(server, 'resources/list', 'resources', limit),
        // Servers without templates might refuse this request.
        pages(server, 'resources/templates/list', 'resourceTemplates', limit).catch(() => {
          limit.throwIfAborted()
          return { all: [], isCut: false }
        })
      ])
      return {
        resources: listed.all.flatMap((each) => entryOf(server.name, each) ?? []),
        templates: templates.all.flatMap((each) => templateOf(server.name, each) ?? []),
        isCut: listed.isCut || templates.isCut
      }
    })
  }

  return {
    /** Lists the resources and templates of all connected servers, or of the named one. Throws ToolServerNotFound (404). */
    async list (name: string | undefined, signal: AbortSignal): Promise<ResourcesOfServers> {
      const found: ResourcesOfServers = { resources: [], templates: [], failed: [], cut: [] }
      const asked = servers().filter((server) => name === undefined || server.name === name)
      if (name !== undefined && asked.length === 0) found.failed.push({ server: name, error: whyNone(name) })
      const lists = await Promise.all(asked.map((server) =>
        ofServer(server, signal).catch((error: Error) => {
          signal.throwIfAborted()
          found.failed.push({ server: server.name, error: whyUnanswered(error) })
        })))
      for (const [n, list] of lists.entries()) {
        if (list === undefined) continue
        found.resources.push(...list.resources)
        found.templates.push(...list.templates)
        if (list.isCut) found.cut.push(asked[n].name)
      }
      return found
    },

    /** Returns the content of a resource. Throws ToolServerNotFound (404) or ResourceFailed (502). */
    async read ({ server: name, uri }: { server: string, uri: string }, signal: AbortSignal): Promise<ResourceView> {
      const failure = (why: string) => new ResourceFailed(name, JSON.stringify(uri), why)
      const server = servers().find((each) => each.name === name)
      if (server === undefined) throw failure(whyNone(name))
      const { contents } = await withDeadline({ clock, ms: READ_MS, signal }, (limit) =>
        server.request('resources/read', { uri }, { signal: limit })).catch((error) => {
        throw failure(whyUnanswered(error))
      })
      if (!Array.isArray(contents)) throw failure('it answered without its contents')
      return { server: name, uri, contents: partsOf(contents, uri) }
    }
  }
}

const metaOf = (value: unknown): Json | undefined =>
  isObject(value) && JSON.stringify(value).length <= LARGEST_META ? value as Json : undefined

/** Returns the fields of a listed resource or template apart from its address; undefined if it has no usable name. */
function describedOf (entry: Json) {
  const { name, title, mimeType, annotations } = entry
  const shown = typeof name === 'string' && name !== '' ? name : title
  const said = metaOf(annotations)
  if (typeof shown !== 'string') return undefined
  return {
    ...{ name: shown.slice(0, LONGEST_TEXT), ...namesOf(entry) },
    ...(typeof mimeType === 'string' && { mimeType: mimeType.slice(0, LONGEST_TEXT) }),
    ...(said !== undefined && { annotations: said })
  }
}

/**
 * True if the address is short enough to be returned unchanged. An entry with a longer one is left out: a shortened address could not be
 * read.
 */
const isAddress = (value: unknown): value is string => typeof value === 'string' && value !== '' && value.length <= LONGEST_URI

function entryOf (server: string, entry: Json): ResourceEntry | undefined {
  const described = describedOf({ ...entry, name: entry.name ?? entry.uri })
  if (!isAddress(entry.uri) || described === undefined) return undefined
  return { server, uri: entry.uri, ...described, ...(typeof entry.size === 'number' && { size: entry.size }) }
}

function templateOf (server: string, entry: Json): ResourceTemplate | undefined {
  const described = describedOf({ ...entry, name: entry.name ?? entry.uriTemplate })
  return isAddress(entry.uriTemplate) && described !== undefined ? { server, uriTemplate: entry.uriTemplate, ...described } : undefined
}

/**
 * Returns the parts of a resource within the limits. A text is cut to the room left. Of a blob that does not fit, only the size is
 * returned.
 */
function partsOf (contents: unknown[], uri: string): ResourceView['contents'] {
  let room = LARGEST
  return contents.slice(0, MOST_PARTS).flatMap((part): ResourceView['contents'] => {
    if (!isObject(part)) return []
    const { text, blob, mimeType } = part as Json
    const meta = metaOf((part as Json)._meta)
    const about = {
      uri: isAddress((part as Json).uri) ? (part as Json).uri as string : uri,
      ...(typeof mimeType === 'string' && { mimeType: mimeType.slice(0, LONGEST_TEXT) }),
      ...(meta !== undefined && { _meta: meta })
    }
    if (typeof text === 'string') {
      const shown = text.slice(0, room).toWellFormed()
      room -= shown.length
      return [{ ...about, text: shown, size: text.length, ...(text.length > shown.length && { isCut: true as const }) }]
    }
    if (typeof blob !== 'string') return []
    const size = Buffer.byteLength(blob, 'base64')
    if (blob.length > room) return [{ ...about, size, isCut: true as const }]
    room -= blob.length
    return [{ ...about, blob, size }]
  })
}
