import { Type, type Static } from '@sinclair/typebox'
import { FITTING_BYTES, fittingEnd, jsonBytes } from '../fitting-text.ts'
import { imageOf } from '../model-content.ts'
import type { Tool, ToolOutput } from '../../contracts/tool.ts'
import { ToolFailed } from '../tool-errors.ts'
import { chosen, forResources, type ResourceServers } from './resource-servers.ts'

type Json = Record<string, unknown>

const Input = Type.Object({
  uri: Type.String({ minLength: 1, maxLength: 4_096, description: 'Address of the resource.' }),
  server: Type.Optional(
    Type.String({ minLength: 1, description: 'Tool server that has it; needed when several servers have resources.' })
  ),
  offset: Type.Optional(
    Type.Integer({ minimum: 0, description: 'First character of the text to read: the nextOffset of an answer. Default 0.' })
  )
}, { additionalProperties: false })

/** Parts of one resource that are shown, and all their images, in characters of base64. */
const MOST_PARTS = 100
const LARGEST_IMAGES = 5 * 1024 * 1024

/**
 * `{server, uri, content: [{type: 'resource', resource: {uri, mimeType?, text}}, {type: 'image', mimeType, data}, …], nextOffset?}`: as
 * much text as fits, images, and of other files their size. `offset` counts the characters of all texts of the resource.
 */
export function createReadResource (servers: ResourceServers): Tool<Static<typeof Input>> {
  const { permission, ...rest } = forResources(servers)
  return {
    ...rest,
    get permission () {
      return permission()
    },
    name: 'readResource',
    description: 'Read a resource of a connected tool server by its uri: one that listResources names, one made from a template, or one ' +
      'that the result of a tool links to (type resource_link). Images are shown to you. Long text is answered in parts: read on with ' +
      'offset set to the nextOffset of the answer.',
    inputSchema: Input,
    target: ({ uri }) => uri,
    async execute ({ uri, server: name, offset = 0 }, context) {
      const server = chosen(servers(), name)
      const { contents } = await server.request('resources/read', { uri }, context)
      if (!Array.isArray(contents)) throw new ToolFailed(`${server.name} answered without the contents of ${JSON.stringify(uri)}.`)
      return { server: server.name, uri, ...partsFrom(contents.slice(0, MOST_PARTS), offset) }
    }
  }
}

/** Returns the parts of a resource: texts from `offset` on, as much as fits, and in the answer that begins at 0 all else. */
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
