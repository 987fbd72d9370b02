import type { NamedFile } from '../contracts/attached-file.ts'
import { OFFICE_TYPES, plainType, textKindOf } from '../lib/media-type.ts'
import type { Attachments } from './attachments.ts'

/** The most characters that are read of one text, and the most characters of all texts kept in memory. */
const MOST_CHARACTERS = 4_000_000
const MOST_KEPT = 8_000_000
/** The most pages that are read of a PDF. The text says how many pages were left out. */
const MOST_PAGES = 500

/** The text of a file cannot be read. The message is a clause with the reason, such as "it is protected by a password". */
class FileUnreadable extends Error {}

interface PdfPages {
  pages: string[]
  totalPages: number
}

/** Reads documents in a separate process or thread, because documents are untrusted. */
interface DocumentReader {
  office(input: { bytes: Uint8Array, format: typeof OFFICE_TYPES[string], mostCharacters: number }): Promise<string>
  pdf(input: { bytes: Uint8Array, firstPage: number, mostPages: number, mostChars: number }): Promise<PdfPages>
}

interface Parts {
  attachments: Pick<Attachments, 'bytes'>
  documents: DocumentReader
  /** Decodes a text, whatever its encoding is. */
  decode: (bytes: Buffer) => string
}

/**
 * Creates the function that reads the text of files; see `AttachedFiles.text`. The function keeps the newest
 * texts of attachments in memory.
 */
export function createFileText ({ attachments, documents, decode }: Parts) {
  const kept = new Map<string, Promise<string>>()
  const sizes = new Map<string, number>()

  async function read (file: NamedFile): Promise<string> {
    const bytes = 'bytes' in file ? Buffer.from(file.bytes) : await attachments.bytes(file.digest)
    if (bytes === undefined) throw new FileUnreadable('it is not stored any more')
    switch (textKindOf(file.mediaType)) {
      case 'plain':
        return decode(bytes).slice(0, MOST_CHARACTERS).toWellFormed()
      case 'office':
        return readDocument(() => documents.office({
          bytes,
          format: OFFICE_TYPES[plainType(file.mediaType)],
          mostCharacters: MOST_CHARACTERS
        }))
      case 'pdf':
        return readDocument(async () => {
          const { pages, totalPages } = await documents.pdf({ bytes, firstPage: 1, mostPages: MOST_PAGES, mostChars: MOST_CHARACTERS })
          if (pages.join('').trim() === '') throw new FileUnreadable('its pages hold pictures, and no text')
          const rest = pages.length < totalPages ? `\n[${totalPages - pages.length} more pages were not read]` : ''
          return pages.map((page, n) => `[page ${n + 1}]\n${page}`).join('\n') + rest
        })
      case undefined:
        throw new FileUnreadable(`${file.mediaType} holds no text that can be read`)
    }
  }

  return function text (file: NamedFile): Promise<string> {
    if (!('digest' in file)) return read(file)
    const key = `${file.digest} ${textKindOf(file.mediaType)}`
    const known = kept.get(key)
    if (known !== undefined) {
      kept.delete(key)
      kept.set(key, known)
      return known
    }
    const reading = read(file)
    kept.set(key, reading)
    reading.then((found) => {
      sizes.set(key, found.length)
      let total = [...sizes.values()].reduce((sum, size) => sum + size, 0)
      for (const oldest of kept.keys()) {
        if (total <= MOST_KEPT || oldest === key) break
        total -= sizes.get(oldest) ?? 0
        kept.delete(oldest)
        sizes.delete(oldest)
      }
    }, () => {
      kept.delete(key)
    })
    return reading
  }
}

async function readDocument (read: () => Promise<string>): Promise<string> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof FileUnreadable) throw error
    const { message } = error as Error
    throw new FileUnreadable(/password|encrypted/i.test(message) ? 'it is protected by a password' : reasonIn(message))
  }
}

/** Extracts the reason from an error message of the document reader: "This content could not be turned into office: <reason>." */
const reasonIn = (message: string) => message.replace(/^This content could not be turned into \w+: /, '').replace(/\.$/, '')
