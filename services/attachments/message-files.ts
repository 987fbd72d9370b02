import { ATTACHMENT, digestIn, type NamedFile } from '../contracts/attached-file.ts'
import { mediaTypeOf, OCTETS, plainType, textKindOf } from '../lib/media-type.ts'
import { defineError } from '../lib/service-error.ts'
import { yieldToEventLoop } from '../lib/yield-to-event-loop.ts'
import { MOST_BYTES } from '../../schemas/attachments.ts'
import { type Attachments, Empty } from './attachments.ts'

/** A message in any client's format. */
interface Message {
  role: string
  parts?: unknown
  content?: unknown
}

type Part = Record<string, any>

/** A part of a message that names a file. */
interface FilePart {
  part: Part
  /** The media type that the part states; '' if the part states none, or an incomplete one such as `image/*`. */
  mediaType: string
  name?: string
  /** The content of the part: bytes, a stored attachment, or a URL elsewhere. */
  source: { bytes: Buffer } | { digest: string } | { address: string }
  /** Returns the part with the URL of an attachment as its content. */
  withAddress: (url: string, mediaType: string) => Part
}

const DATA_URL = /^data:([^,]*?)(;base64)?,/i
/** The roles of messages that can contain files. */
const ROLES = ['user', 'assistant']

/** Returns the source for a URL or a base64 text. `isBase64`: a text that does not begin with a URL scheme is base64. */
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

/** Parses a part of a message; undefined if the part names no file. */
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

/**
 * Returns the file parts of a message, in order; none for a message whose role has no files or whose content is a text. Other parts are
 * left out.
 */
function filesOf (message: Message): FilePart[] {
  const parts = message[fieldOf(message)]
  if (!ROLES.includes(message.role) || !Array.isArray(parts)) return []
  return parts.flatMap((part) => typeof part === 'object' && part !== null ? filePart(part) ?? [] : [])
}

/** Returns the digests of the attachments that a message names. */
export const attachmentsIn = (message: Message): string[] =>
  [...new Set(filesOf(message).flatMap(({ source }) => 'digest' in source ? [source.digest] : []))]

/** Returns the message with parts replaced; the same object if none of its parts is in `replaced`. */
function withParts<M extends Message> (message: M, replaced: ReadonlyMap<Part, Part>): M {
  const field = fieldOf(message)
  const parts = message[field]
  if (!Array.isArray(parts) || !parts.some((part) => replaced.has(part))) return message
  return { ...message, [field]: parts.map((part) => replaced.get(part) ?? part) }
}

const NotStored = defineError(
  'ERR_ATTACHMENT_REFUSED',
  '%s names an attachment that is not stored (any more). Send the file again with POST /attachments, or leave it out.'
)
const TooLarge = defineError('ERR_ATTACHMENT_REFUSED', '%s holds a file of more than %d MiB. Send a smaller one.')

interface Message {
  role: string
  [field: string]: unknown
}

/** A file of a message that is about to be stored. `where`: the name of the message in errors. */
type TakenFile = NamedFile & { size: number, where: string }

interface Options {
  /** The id of the thread; undefined for none. */
  thread?: string
  /** Returns the name of message `n` for errors. */
  nameOf: (n: number) => string
  /** True if message `n` is new. The files of other messages are not checked. */
  isNew: (n: number) => boolean
  /** Throws if the model of the request does not support one of the files. Called before anything is stored. */
  check?: (files: TakenFile[]) => Promise<void>
}

/** The messages of a request, with attachments instead of bytes. `release` ends the protection of these attachments from removal. */
interface Taken<M> {
  messages: M[]
  release: () => void
}

/**
 * Returns the media type of a file. A part can state a more exact text type than the bytes reveal (Markdown,
 * CSV), but the part cannot contradict the bytes.
 */
function typeOf ({ mediaType, name }: FilePart, stored: string | undefined, bytes: Buffer | undefined): string {
  const found = stored ?? mediaTypeOf(bytes!, { declared: mediaType, name })
  if (mediaType === '' || mediaType === OCTETS) return found
  return textKindOf(mediaType) === textKindOf(found) && textKindOf(found) !== undefined ? mediaType : found
}

/**
 * Moves the files in messages to attachments: bytes in a message are stored as an attachment, and the message
 * names the attachment instead. Nothing is stored unless all files are accepted. The attachments are protected
 * from removal until `release` is called. Throws NotStored, TooLarge, Empty, and the errors of `check` (400).
 */
export async function takeFiles<M extends Message> (
  messages: readonly M[],
  { attachments, digest }: { attachments: Attachments, digest: (thread: string) => string },
  { thread, nameOf, isNew, check }: Options
): Promise<Taken<M>> {
  const found = messages.map((message, n) => filesOf(message).map((file) => ({ file, n })))
  const all = found.flat()
  if (all.length === 0) return { messages: [...messages], release () {} }
  const digests = new Map(all.flatMap(({ file }): Array<[FilePart, string]> => {
    if ('digest' in file.source) return [[file, file.source.digest]]
    return 'bytes' in file.source ? [[file, attachments.digestOf(file.source.bytes)]] : []
  }))
  const release = await attachments.hold([...digests.values()])
  try {
    const ofThread = thread === undefined ? new Set<string>() : await attachments.ofThread(digest(thread))
    const taken = new Map<FilePart, TakenFile>()
    for (const { file, n } of all) {
      const where = nameOf(n)
      if ('address' in file.source) continue
      const { name, source } = file
      if ('digest' in source) {
        const stored = await attachments.find(source.digest)
        if (stored === undefined) {
          if (isNew(n) && !ofThread.has(source.digest)) throw new NotStored(where)
          continue
        }
        const mediaType = typeOf(file, stored.mediaType, undefined)
        taken.set(file, { ...source, mediaType, name: name ?? stored.name, size: stored.bytes, where })
      } else {
        if (source.bytes.length > MOST_BYTES) throw new TooLarge(where, MOST_BYTES / 1024 / 1024)
        if (source.bytes.length === 0 && isNew(n)) throw new Empty()
        taken.set(file, { ...source, mediaType: typeOf(file, undefined, source.bytes), name, size: source.bytes.length, where })
      }
      await yieldToEventLoop()
    }
    // A file of an earlier message is not refused. A model that does not support it gets a line of text instead.
    const fresh = all.flatMap(({ file, n }) => {
      const each = taken.get(file)
      return each === undefined || !isNew(n) || ('digest' in each && ofThread.has(each.digest)) ? [] : [each]
    })
    if (fresh.length > 0) await check?.(fresh)
    const replaced = new Map<Record<string, any>, Record<string, any>>()
    for (const [file, each] of taken) {
      // An empty file of an earlier message stays as it is.
      if (each.size === 0) continue
      const { mediaType, name } = each
      if ('bytes' in file.source) await attachments.put(file.source.bytes, { mediaType, name })
      replaced.set(file.part, file.withAddress(ATTACHMENT + digests.get(file)!, each.mediaType))
    }
    return { messages: messages.map((message) => withParts(message, replaced)), release }
  } catch (error) {
    release()
    throw error
  }
}
