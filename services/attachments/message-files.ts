import { digestIn } from '../contracts/attached-file.ts'
import { plainType } from '../lib/media-type.ts'

/** A message of any client's format. */
interface Message {
  role: string
  parts?: unknown
  content?: unknown
}

type Part = Record<string, any>

/** A part of a message that names a file. */
export interface FilePart {
  part: Part
  /** The type that the part says; '' for none, and for one that is not whole, such as `image/*`. */
  mediaType: string
  name?: string
  /** What the part holds or names: bytes, an attachment, or an address elsewhere. */
  source: { bytes: Buffer } | { digest: string } | { address: string }
  /** Returns the part with the address of an attachment. */
  withAddress: (url: string, mediaType: string) => Part
}

const DATA_URL = /^data:([^,]*?)(;base64)?,/i
/** Roles whose messages hold files of users, or of models. */
const ROLES = ['user', 'assistant']

/** Returns what an address or a base64 text stands for. */
function sourceOf (value: string, isBase64: boolean): { source: FilePart['source'], mediaType?: string } | undefined {
  const digest = digestIn(value)
  if (digest !== undefined) return { source: { digest } }
  const data = DATA_URL.exec(value.slice(0, 500))
  if (data !== null) {
    const text = value.slice(data[0].length)
    const bytes = data[2] ? Buffer.from(text, 'base64') : Buffer.from(decoded(text))
    return { source: { bytes }, mediaType: data[1] }
  }
  if (isBase64 && !/^[a-z][a-z+.-]*:/i.test(value.slice(0, 40))) return { source: { bytes: Buffer.from(value, 'base64') } }
  return { source: { address: value } }
}

function decoded (text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Reads a part of a message; undefined for one that names no file. */
function filePart (part: Part): FilePart | undefined {
  const { type, mediaType, filename } = part
  if (type !== 'file' && type !== 'image') return undefined
  const field = ['url', 'data', 'image'].find((name) => part[name] !== undefined)
  if (field === undefined || part.providerReference !== undefined) return undefined
  const value = part[field]
  const tagged = typeof value === 'object' && value !== null ? value : undefined
  const text = tagged === undefined ? value : tagged.type === 'data' ? tagged.data : tagged.type === 'url' ? tagged.url : undefined
  if (typeof text !== 'string') return undefined
  const found = sourceOf(text, field !== 'url' && tagged?.type !== 'url')
  if (found === undefined) return undefined
  const said = plainType(typeof mediaType === 'string' ? mediaType : found.mediaType)
  return {
    part,
    mediaType: /^[^/*]+\/[^/*]+$/.test(said) ? said : '',
    ...(typeof filename === 'string' && filename !== '' && { name: filename }),
    source: found.source,
    withAddress: (url, type) => ({ ...part, [field]: url, mediaType: type })
  }
}

const fieldOf = ({ parts }: Message) => parts === undefined ? 'content' as const : 'parts' as const

/** Returns the files that a message names, in order. */
export function filesOf (message: Message): FilePart[] {
  const parts = message[fieldOf(message)]
  if (!ROLES.includes(message.role) || !Array.isArray(parts)) return []
  return parts.flatMap((part) => typeof part === 'object' && part !== null ? filePart(part) ?? [] : [])
}

/** Returns the digests of the attachments that a message names. */
export const attachmentsIn = (message: Message): string[] =>
  [...new Set(filesOf(message).flatMap(({ source }) => 'digest' in source ? [source.digest] : []))]

/** Returns the message with some of its parts replaced; the message itself when it has none of them. */
export function withParts<M extends Message> (message: M, replaced: ReadonlyMap<Part, Part>): M {
  const field = fieldOf(message)
  const parts = message[field]
  if (!Array.isArray(parts) || !parts.some((part) => replaced.has(part))) return message
  return { ...message, [field]: parts.map((part) => replaced.get(part) ?? part) }
}
