import { ATTACHMENT_BYTES, ATTACHMENTS } from '../keys.ts'
import { BackupDamaged } from './backup-format.ts'

type StoredRecord = [key: string, value: unknown]

/** Where the content of an attachment lies. In a backup it follows the record of the attachment, in pieces under ATTACHMENT_BYTES. */
interface Sealed {
  file: string
  key: string
}

/** Reads and writes the contents of attachments, which lie in files beside the store. */
export interface AttachmentContents {
  read(sealed: Sealed): Promise<Buffer | undefined>
  write(bytes: Uint8Array): Promise<Sealed>
}

interface AttachmentRecord extends Sealed {
  bytes: number
}

/** Bytes of one piece; a record of a backup is a line of text. */
const PIECE_BYTES = 1024 * 1024

const isAttachment = ([key]: StoredRecord) => key.startsWith(ATTACHMENTS)
const isPiece = ([key]: StoredRecord) => key.startsWith(ATTACHMENT_BYTES)

/**
 * Yields the records of a backup, those of attachments with their contents. Calls `damaged` with the key of an attachment whose content
 * cannot be read, which is left out.
 */
export async function * withContents (
  records: AsyncIterable<StoredRecord>,
  contents: AttachmentContents,
  damaged: (key: string) => void
): AsyncGenerator<StoredRecord> {
  for await (const record of records) {
    if (!isAttachment(record)) {
      yield record
      continue
    }
    const [key, value] = record
    const { file, key: secret, ...kept } = value as AttachmentRecord
    const bytes = await contents.read({ file, key: secret })
    if (bytes === undefined) {
      damaged(key)
      continue
    }
    yield [key, kept]
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      const name = `${ATTACHMENT_BYTES}${key.slice(ATTACHMENTS.length)}/${String(at / PIECE_BYTES).padStart(4, '0')}`
      yield [name, bytes.subarray(at, at + PIECE_BYTES).toString('base64')]
    }
  }
}

/**
 * Yields the records of a backup as an import stores them: the contents of attachments are written to files of their own, which nothing
 * names until the import is in place. Throws BackupDamaged (400).
 */
export async function * withFiles (records: AsyncIterable<StoredRecord>, contents: AttachmentContents): AsyncGenerator<StoredRecord> {
  let open: { record: StoredRecord, pieces: Buffer[], left: number } | undefined
  for await (const record of records) {
    if (isPiece(record)) {
      if (open === undefined || typeof record[1] !== 'string') throw new BackupDamaged('a piece of an attachment does not belong to any')
      const piece = Buffer.from(record[1], 'base64')
      open.pieces.push(piece)
      open.left -= piece.length
      if (open.left > 0) continue
      const [key, value] = open.record
      yield [key, { ...value as object, ...await contents.write(Buffer.concat(open.pieces)) }]
      open = undefined
      continue
    }
    if (open !== undefined) throw new BackupDamaged('an attachment is not whole')
    if (isAttachment(record)) open = { record, pieces: [], left: (record[1] as AttachmentRecord).bytes }
    else yield record
  }
  if (open !== undefined) throw new BackupDamaged('an attachment is not whole')
}
