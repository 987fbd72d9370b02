import { Type } from '@sinclair/typebox'
import type { AttachedFiles } from '../../contracts/attached-file.ts'
import { READ_ATTACHMENT } from '../../contracts/model-texts.ts'
import type { BuiltinTool } from '../../contracts/tool.ts'
import { textKindOf } from '../../lib/media-type.ts'
import { escapePattern } from '../search/line-pattern.ts'
import { ToolFailed } from '../tool-errors.ts'

/** The most characters that one call returns, and with a query, the characters on either side of each match. */
const MOST_CHARACTERS = 16_000
const AROUND = 200
const MOST_MATCHES = 20
/** The fewest characters of a digest by which a model can name an attachment. */
const SHORTEST_ID = 8

interface Input {
  id: string
  offset?: number
  query?: string
}

/** An attachment of a conversation. */
interface ReadableAttachment {
  digest: string
  mediaType: string
  name?: string
}

export interface AttachmentReading {
  /** Returns the attachments of the conversation that a run belongs to, oldest first; [] for other runs. */
  attachmentsOf: (runId: string) => Promise<ReadableAttachment[]>
  files: Pick<AttachedFiles, 'text'>
}

/** Lets a model read an attached file beyond the beginning, which is all that the message contains of a long file. */
export function createReadAttachment ({ attachmentsOf, files }: AttachmentReading): BuiltinTool<Input> {
  async function find (id: string, runId: string): Promise<ReadableAttachment> {
    const all = await attachmentsOf(runId)
    // Of several files with one name, the newest is meant: a later message brings a new version.
    const found = all.findLast(({ digest, name }) => digest === id || name === id) ??
      all.find(({ digest }) => id.length >= SHORTEST_ID && digest.startsWith(id))
    if (found !== undefined) return found
    const known = all.map(({ digest, name }) => `${digest.slice(0, 16)}${name === undefined ? '' : ` (${JSON.stringify(name)})`}`)
    throw new ToolFailed(
      `This conversation has no attachment ${JSON.stringify(id)}. ${known.length === 0 ? 'It has none.' : `It has: ${known.join(', ')}.`}`
    )
  }

  return {
    model: {
      name: READ_ATTACHMENT,
      description: 'Read more of a file that the user attached, from character `offset` on, or find where `query` occurs in it. ' +
        'The message has its beginning.',
      schema: Type.Object({
        id: Type.String({ minLength: 1, maxLength: 300, description: 'The id that the message gives, or the name of the file' }),
        offset: Type.Optional(Type.Integer({ minimum: 0, description: `Default 0; a call returns ${MOST_CHARACTERS} characters` })),
        query: Type.Optional(Type.String({ minLength: 1, maxLength: 500, description: 'Words to find; case is ignored' }))
      }, { additionalProperties: false }),
      use: 'always'
    },
    says: { en: { label: 'Read an attachment', does: 'read the attachment' }, about: ['id'], otherNames: ['read', 'view', 'notebookread'] },
    policy: { effect: 'read', needs: ['userWords', 'attachments'] },
    effects: { source: 'attachment' },
    async execute ({ id, offset = 0, query }, { runId }) {
      const { digest, mediaType, name } = await find(id, runId)
      if (textKindOf(mediaType) === undefined) throw new ToolFailed(`${name ?? id} is ${mediaType}: it has no text to read.`)
      const text = await files.text({ digest, mediaType, name }).catch((error: Error) => {
        throw new ToolFailed(`${name ?? id} cannot be read: ${error.message}.`)
      })
      const file = { id: digest.slice(0, 16), ...(name !== undefined && { name }), mediaType, characters: text.length }
      if (query !== undefined) return { ...file, ...search(text, query, offset) }
      const end = Math.min(offset + MOST_CHARACTERS, text.length)
      return {
        ...file,
        offset,
        text: text.slice(offset, end).toWellFormed(),
        ...(end < text.length && { nextOffset: end })
      }
    }
  }
}

/** Returns the matches of a query from the position `from` on, ignoring case. */
function search (text: string, query: string, from: number) {
  const matches: Array<{ offset: number, text: string }> = []
  const pattern = new RegExp(escapePattern(query), 'giu')
  pattern.lastIndex = from
  let nextOffset: number | undefined
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    if (matches.length === MOST_MATCHES) {
      nextOffset = match.index
      break
    }
    const start = Math.max(0, match.index - AROUND)
    matches.push({ offset: match.index, text: text.slice(start, match.index + match[0].length + AROUND).toWellFormed() })
    // Matches within the last excerpt are skipped, because it shows them already.
    pattern.lastIndex = match.index + match[0].length + AROUND
  }
  return { query, matches, ...(nextOffset !== undefined && { nextOffset }) }
}
