import { ATTACHMENT_BYTES, ATTACHMENTS, MESSAGES, RECORDS, RUNS, TASKS, THREADS } from '../keys.ts'
import { BackupDamaged } from './backup-format.ts'
import type { BackupCounts } from '../../../schemas/backup.ts'
import { recordKey } from '../record-names.ts'
import type { Store } from '../store-types.ts'

type StoredRecord = [key: string, value: unknown]

/**
 * The file and key of an attachment's content. In a backup the content follows the record of the attachment, in pieces under
 * ATTACHMENT_BYTES.
 */
interface Sealed {
  file: string
  key: string
}

/** Reads and writes the contents of attachments, which are in files beside the store. */
export interface AttachmentContents {
  read(sealed: Sealed): Promise<Buffer | undefined>
  write(bytes: Uint8Array): Promise<Sealed>
}

interface AttachmentRecord extends Sealed {
  bytes: number
}

/** The size of one piece in bytes. A piece is one record of a backup, and a record is one line of text. */
const PIECE_BYTES = 1024 * 1024

const isAttachment = ([key]: StoredRecord) => key.startsWith(ATTACHMENTS)
const isPiece = ([key]: StoredRecord) => key.startsWith(ATTACHMENT_BYTES)

/**
 * Yields the records of a backup, each attachment followed by its content. An attachment whose content cannot be read is left out:
 * `damaged` is called with its key.
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
 * Yields the records of a backup as an import stores them. The contents of attachments are written to files of their own, which no record
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

/** The kinds of things that are counted by the prefixes of their keys. */
const PREFIXES = { threads: THREADS, messages: MESSAGES, tasks: TASKS, runs: RUNS, attachments: ATTACHMENTS } as const
/** Facts are items of a single record. */
const FACTS = `${recordKey(RECORDS.brain)}/entries/`
type Prefixed = keyof typeof PREFIXES

const NAMES = Object.keys(PREFIXES) as Prefixed[]
const AGENTS = recordKey(RECORDS.agents)

const factsIn = (memory: unknown): number => (memory as { entries?: unknown[] } | undefined)?.entries?.length ?? 0
const agentsIn = (agents: unknown): number => Object.keys(agents ?? {}).length

/** Counts the things in records that a person would count: conversations, messages, tasks and so on. */
export function createCounter () {
  const counts: BackupCounts = { facts: 0, threads: 0, messages: 0, tasks: 0, runs: 0, attachments: 0, agents: 0 }
  return {
    counts,
    add ([key, value]: [key: string, value: unknown]): void {
      if (key.startsWith(FACTS)) counts.facts++
      if (key === AGENTS) counts.agents = agentsIn(value)
      for (const name of NAMES) if (key.startsWith(PREFIXES[name])) counts[name]++
    }
  }
}

/** Counts the contents of a store. Only single records are decrypted; a damaged one counts as empty. */
export async function countStored (store: Pick<Store, 'keys' | 'record'>): Promise<BackupCounts> {
  const { counts, add } = createCounter()
  for (const prefix of Object.values(PREFIXES)) for await (const key of store.keys(prefix)) add([key, undefined])
  const single = (name: string) => store.record<unknown>(name, () => undefined).get().catch(() => undefined)
  return { ...counts, facts: factsIn(await single(RECORDS.brain)), agents: agentsIn(await single(RECORDS.agents)) }
}
