import { readFile, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ContentBlock } from '@agentclientprotocol/sdk'
import { type Agent, AgentError } from '../client/index.ts'

/** A part of a message of the user, in the AI SDK's ModelMessage format. */
type PromptPart = { type: 'text', text: string } | { type: 'file', data: string, mediaType: string, filename?: string }

/** The largest file that a prompt can attach by its path, in bytes. */
const LARGEST_FILE = 32 * 1024 * 1024
const IMAGES: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp'
}

/** The content of an attached file. */
interface Attached {
  content: string | Uint8Array<ArrayBuffer>
  type: string
  name?: string
}

/**
 * Converts a prompt of ACP into the parts of a user message. Embedded content becomes an attachment, because it is not the user's own text.
 * A link becomes the path with which tools find the file; a linked image is also attached. An attachment that cannot be used is left out,
 * with a note in `notes`.
 */
export async function promptParts (agent: Agent, blocks: readonly ContentBlock[]): Promise<{ parts: PromptPart[], notes: string[] }> {
  const parts: PromptPart[] = []
  const files: PromptPart[] = []
  const notes: string[] = []
  const say = (text: string) => {
    const last = parts.at(-1)
    if (last?.type === 'text') last.text += text
    else parts.push({ type: 'text', text })
  }
  /** Attaches a file, or adds a note that says why it is left out. */
  async function attach (what: string, read: () => Promise<Attached>): Promise<void> {
    try {
      const { content, type, name } = await read()
      const { url, mediaType, filename } = await agent.attach(new Blob([content], { type }), { name })
      files.push({ type: 'file', data: url, mediaType, ...filename !== undefined && { filename } })
    } catch (error) {
      const isRefused = !(error instanceof AgentError) || (error.statusCode !== undefined && error.statusCode < 500)
      if (!isRefused) throw error
      const note = `${what} is left out: ${error instanceof Error ? error.message : String(error)}`
      notes.push(note)
      say(`\n[${note}]\n`)
    }
  }
  for (const block of blocks) {
    switch (block.type) {
      case 'text':
        say(block.text)
        break
      case 'resource_link': {
        if (block.uri.startsWith('data:')) {
          await attach(`The file ${block.name}`, async () => ({ ...dataIn(block.uri), name: block.name }))
          break
        }
        say(` ${pathOf(block.uri)} `)
        const image = imageType(block.uri, block.mimeType)
        if (block.uri.startsWith('file:') && image !== undefined) {
          await attach(`The picture ${block.name}`, () => readAttached(block.uri, image))
        }
        break
      }
      case 'image':
        await attach('A picture', () => readImage(block))
        break
      case 'audio':
        await attach('A sound', () => Promise.reject(new Error('this agent takes no audio. Write what it says.')))
        break
      case 'resource': {
        const { resource } = block
        const content = 'text' in resource ? resource.text : Buffer.from(resource.blob, 'base64')
        const type = resource.mimeType ?? ('text' in resource ? 'text/plain' : 'application/octet-stream')
        const path = pathOf(resource.uri)
        say(` ${path} `)
        await attach(`The file ${basename(path)}`, async () => ({ content, type, name: basename(path) }))
        break
      }
      default:
        // A kind of content from a later version of ACP, which this agent has not announced.
    }
  }
  return { parts: [...parts, ...files], notes }
}

/** Returns the path of a `file:` URL; other addresses are returned unchanged. */
function pathOf (uri: string): string {
  try {
    return uri.startsWith('file:') ? fileURLToPath(uri) : uri
  } catch {
    return uri
  }
}

/** Reads an image: from its data, which is base64 or a `data:` URL, or else from its file. */
async function readImage ({ data, uri, mimeType }: Extract<ContentBlock, { type: 'image' }>): Promise<Attached> {
  const source = data === '' && uri ? uri : data
  if (source.startsWith('data:')) return dataIn(source)
  return source === data ? { content: Buffer.from(data, 'base64'), type: mimeType } : readAttached(source, mimeType)
}

function imageType (uri: string, mimeType: string | null | undefined): string | undefined {
  if (mimeType?.startsWith('image/')) return mimeType
  return IMAGES[/\.(\w+)$/.exec(uri)?.[1].toLowerCase() ?? '']
}

/** Reads a file that a prompt refers to. Throws for addresses other than `file:` URLs, and for files that are too large. */
async function readAttached (uri: string, type: string): Promise<Attached> {
  if (!uri.startsWith('file:')) throw new Error(`${uri} is not a file on this computer.`)
  const path = fileURLToPath(uri)
  const found = await stat(path)
  if (!found.isFile() || found.size > LARGEST_FILE) throw new Error(`${path} is not a file of at most 32 MiB.`)
  return { content: await readFile(path), type, name: basename(path) }
}

/** Decodes a `data:` URL. */
export function dataIn (url: string): { content: Buffer<ArrayBuffer>, type: string } {
  const [, type, isBase64, data] = /^data:([^;,]*)[^,]*?(;base64)?,(.*)$/s.exec(url) ?? []
  if (data === undefined) throw new Error('its data: URL cannot be read.')
  return { content: isBase64 ? Buffer.from(data, 'base64') : Buffer.from(decodeURIComponent(data)), type: type || 'text/plain' }
}
