import { createHash } from 'node:crypto'
import type { Attachment } from '../../schemas/attachments.ts'
import type { Clock } from '../lib/clock.ts'
import { timeOfId } from '../lib/ids.ts'
import { createKeyedLock } from '../lib/keyed-lock.ts'
import { mediaTypeOf } from '../lib/media-type.ts'
import { defineError } from '../lib/service-error.ts'
import { ATTACHMENT } from '../contracts/attached-file.ts'
import {
  ATTACHMENT_USES,
  ATTACHMENTS,
  attachmentKey,
  attachmentUsesPrefix,
  awaitedAttachmentKey,
  type Op,
  type Store,
  unlessDamaged,
  attachmentOfKey,
  attachmentsOfPrefix,
  attachmentUseKey
} from '../store/index.ts'
import type { AttachmentFiles, SealedAttachment } from './attachment-files.ts'

/** The most bytes of all attachments that the messages of one thread name. */
const MOST_OF_THREAD = 200 * 1024 * 1024
/** How long an uploaded attachment is kept that no message names; milliseconds. */
const UNNAMED_MS = 24 * 60 * 60 * 1000

export const Empty = defineError('ERR_ATTACHMENT_REFUSED', 'The file is empty. Attach one that holds something.')
const NotTheFile = defineError(
  'ERR_UNSUPPORTED_MEDIA_TYPE',
  'The body is a form. Send the bytes of the file itself, with its own type as Content-Type and its name as x-filename; with curl: ' +
    '--data-binary @file.'
)
const AttachmentNotFound = defineError(
  'ERR_ATTACHMENT_NOT_FOUND',
  'No attachment has the digest "%s". It may have been deleted with its last conversation, or a day after an upload that no message named.'
)
const ThreadFull = defineError(
  'ERR_ATTACHMENTS_FULL',
  'The attachments of this conversation would take more than %d MiB. Start a new conversation for the next files, or delete one.'
)

/** The stored record of an attachment. */
interface AttachmentRecord extends SealedAttachment {
  bytes: number
  mediaType: string
  name?: string
  /** When the attachment was last uploaded; milliseconds since the Unix epoch. */
  at: number
}

const LONGEST_NAME = 255

/**
 * Returns the bare file name, without folders and control characters, from the percent-encoded form that headers carry. A text with invalid
 * encoding is taken as it is, a long name is cut, and an empty one becomes `file`.
 */
function fileName (encoded: string): string {
  let name = encoded
  try {
    name = decodeURIComponent(encoded)
  } catch {}
  return name.replace(/^.*[/\\]/s, '').replace(/\p{Cc}/gu, '').slice(0, LONGEST_NAME).toWellFormed() || 'file'
}

export type Attachments = ReturnType<typeof createAttachments>

/**
 * Creates the service for files that users attach to messages. Each content is stored once, in a file beside the
 * store, as long as a message of a thread names it. The file is written before its record and removed after it:
 * a crash in between leaves a file without a record, which `sweep` removes.
 */
export function createAttachments ({ store, clock, files }: { store: Store, clock: Clock, files: AttachmentFiles }) {
  const locked = createKeyedLock()
  /** The number of requests in progress that name an attachment, by its digest. Such attachments are not removed. */
  const held = new Map<string, number>()
  /** Digests of attachments that might have lost their last use. */
  const freed = new Set<string>()
  let cleaning = Promise.resolve()

  const load = (digest: string) => unlessDamaged(store.get<AttachmentRecord>(attachmentKey(digest)))
  const view = (digest: string, { mediaType, bytes, name }: AttachmentRecord): Attachment =>
    ({ digest, url: ATTACHMENT + digest, mediaType, bytes, ...(name !== undefined && { name }) })

  async function isUsed (digest: string): Promise<boolean> {
    const uses: string[] = []
    for await (const [key] of store.list(attachmentUsesPrefix(digest), { limit: 1 })) uses.push(key)
    return uses.length > 0
  }

  /**
   * True if no message has named the attachment since its last upload. Such an upload is kept for a day, even if a
   * conversation that named the attachment earlier is deleted.
   */
  const isAwaited = async (digest: string) => await store.get(awaitedAttachmentKey(digest)) !== undefined

  /** Removes an attachment that no message names, unless it was uploaded within a day and has not been named since. */
  const removeUnused = (digest: string) =>
    locked(digest, async () => {
      const record = await load(digest)
      if (record === undefined || (record.at > clock.now() - UNNAMED_MS && await isAwaited(digest)) || await isUsed(digest)) return
      // Checked last, because a request might have named the attachment meanwhile.
      if (held.has(digest)) return
      await store.transact([attachmentKey(digest), awaitedAttachmentKey(digest)].map((key) => ({ type: 'del', key })))
      await files.remove(record.file)
    })

  /** Returns the operations that store the record of an uploaded attachment and mark it as not named yet. */
  const uploaded = (digest: string, record: AttachmentRecord): Op[] => [
    { type: 'put', key: attachmentKey(digest), value: record },
    { type: 'put', key: awaitedAttachmentKey(digest), value: {} }
  ]

  async function removeFreed (): Promise<void> {
    for (const digest of [...freed]) {
      freed.delete(digest)
      // After a failure, a later sweep removes the attachment.
      await removeUnused(digest).catch(() => {})
    }
  }

  store.onCommit((ops) => {
    for (const { type, key } of ops) if (type === 'del' && key.startsWith(ATTACHMENT_USES)) freed.add(key.split('/')[1])
    if (freed.size > 0) cleaning = cleaning.then(removeFreed)
  })

  const digestOf = (bytes: Uint8Array) => store.digest(`attachment ${createHash('sha256').update(bytes).digest('hex')}`)

  /**
   * Stores a content, unless it is stored already. Returns the attachment with the given name, and with the media
   * type of its first upload. The bytes decide the media type; the declared type counts only if the bytes do not
   * reveal one. Resolves when the attachment is durable. Throws Empty (400) and FilesUnavailable (503).
   */
  async function put (bytes: Buffer, { mediaType, name }: { mediaType?: string, name?: string } = {}): Promise<Attachment> {
    if (bytes.length === 0) throw new Empty()
    const digest = digestOf(bytes)
    return locked(digest, async () => {
      const known = await load(digest)
      if (known !== undefined && await files.read(known) !== undefined) {
        const renewed = { ...known, at: clock.now() }
        await store.transact(uploaded(digest, renewed))
        return view(digest, { ...renewed, ...(name !== undefined && { name }) })
      }
      const record: AttachmentRecord = {
        ...await files.write(bytes),
        bytes: bytes.length,
        mediaType: mediaTypeOf(bytes, { declared: mediaType, name }),
        ...(name !== undefined && { name }),
        at: clock.now()
      }
      await store.transact(uploaded(digest, record))
      return view(digest, record)
    })
  }

  return {
    /** Returns the digest under which a content is or would be stored. The digest is keyed: only this store can compute it. */
    digestOf,

    put,

    /** Stores an uploaded file; `name` is percent-encoded. Throws Empty (400), NotTheFile (415) and FilesUnavailable (503). */
    async upload (body: unknown, { mediaType, name }: { mediaType?: string, name?: string }): Promise<Attachment> {
      if (mediaType !== undefined && /^multipart\/form-data\b/i.test(mediaType)) throw new NotTheFile()
      return put(Buffer.isBuffer(body) ? body : Buffer.alloc(0), { mediaType, ...(name !== undefined && { name: fileName(name) }) })
    },

    /** Returns an attachment without its content; undefined if it is not stored. */
    async find (digest: string): Promise<Attachment | undefined> {
      const record = await load(digest)
      return record && view(digest, record)
    },

    /** Returns the content of an attachment; undefined if it is not stored or damaged. */
    async bytes (digest: string): Promise<Buffer | undefined> {
      const record = await load(digest)
      return record && files.read(record)
    },

    /** Returns an attachment with its content. Throws AttachmentNotFound (404). */
    async get (digest: string): Promise<Attachment & { content: Buffer }> {
      await cleaning
      const record = await load(digest)
      const content = record && await files.read(record)
      if (record === undefined || content === undefined) throw new AttachmentNotFound(digest)
      return { ...view(digest, record), content }
    },

    /** Prevents the removal of attachments until the returned function is called, even if no message names them. */
    async hold (digests: readonly string[]): Promise<() => void> {
      for (const digest of digests) held.set(digest, (held.get(digest) ?? 0) + 1)
      // Waits for removals that began before.
      for (const digest of digests) await locked(digest, async () => {})
      return () => {
        for (const digest of digests) {
          if (held.get(digest) === 1) held.delete(digest)
          else held.set(digest, held.get(digest)! - 1)
        }
      }
    },

    /** Returns the digests of the attachments that the messages of a thread name. `thread`: the digest of the thread. */
    ofThread: async (thread: string): Promise<Set<string>> => new Set((await usesOf(store, thread)).map(({ digest }) => digest)),

    /** Throws ThreadFull (413) if the attachments of the thread and those in `digests` together exceed MOST_OF_THREAD bytes. */
    async checkRoom (thread: string, digests: readonly string[]): Promise<void> {
      if (digests.length === 0) return
      let total = 0
      const named = new Set([...digests, ...(await usesOf(store, thread)).map((use) => use.digest)])
      for (const digest of named) total += (await load(digest))?.bytes ?? 0
      if (total > MOST_OF_THREAD) throw new ThreadFull(MOST_OF_THREAD / 1024 / 1024)
    },

    /** Resolves when all attachments that lost their last use are removed. */
    cleaned: (): Promise<void> => cleaning,

    /** Removes attachments that no message has named for a day, and files without a record. */
    async sweep (signal?: AbortSignal): Promise<void> {
      await cleaning
      const limit = clock.now() - UNNAMED_MS
      // The files are listed before the records are read, so that a file whose record is being written does not look abandoned.
      const names = await files.names()
      const known = new Set<string>()
      for await (const [key, record] of store.list<AttachmentRecord>(ATTACHMENTS, { signal, damaged () {} })) {
        known.add(record.file)
        await removeUnused(key.slice(ATTACHMENTS.length))
      }
      for (const name of names) if (!known.has(name) && timeOfId(name) <= limit) await files.remove(name)
    }
  }
}

// The uses of attachments: which messages name them. Threads are identified by their digests, messages by their numbers.

interface Use {
  /** The number of the message in its thread. */
  seq: number
  digest: string
}

/** Returns the uses of attachments by the messages of a thread. */
async function usesOf (store: Pick<Store, 'keys'>, thread: string): Promise<Use[]> {
  const prefix = attachmentsOfPrefix(thread)
  const uses: Use[] = []
  for await (const key of store.keys(prefix)) {
    const [seq, digest] = key.slice(prefix.length).split('/')
    uses.push({ seq: Number(seq), digest })
  }
  return uses
}

/**
 * Returns the operations that update the uses when messages of a thread are removed and added. `gone`: ranges of removed
 * message numbers, all by default. `moved`: ranges of messages that get other numbers, and the difference. `named`: the attachments of
 * each new message; `from` is the number of the first new message.
 */
export async function changeUses (
  store: Pick<Store, 'keys'>,
  thread: string,
  { gone = [[0, Infinity]], moved = [], from = 0, named = [] }: {
    gone?: ReadonlyArray<readonly [from: number, to: number]>,
    moved?: ReadonlyArray<readonly [from: number, to: number, by: number]>,
    from?: number,
    named?: readonly string[][]
  } = {}
): Promise<Op[]> {
  const ops = new Map<string, Op>()
  const keysOf = ({ seq, digest }: Use) => [attachmentUseKey(digest, thread, seq), attachmentOfKey(thread, seq, digest)]
  const isGone = ({ seq }: Use) => gone.some(([first, end]) => seq >= first && seq < end)
  const uses = gone.length === 0 ? [] : await usesOf(store, thread)
  for (const use of uses) if (isGone(use)) for (const key of keysOf(use)) ops.set(key, { type: 'del', key })
  for (const [first, end, by] of moved) {
    for (const { seq, digest } of uses) {
      if (seq >= first && seq < end) for (const key of keysOf({ seq: seq + by, digest })) ops.set(key, { type: 'put', key, value: {} })
    }
  }
  for (const [n, digests] of named.entries()) {
    for (const digest of digests) {
      for (const key of keysOf({ seq: from + n, digest })) ops.set(key, { type: 'put', key, value: {} })
      const awaited = awaitedAttachmentKey(digest)
      ops.set(awaited, { type: 'del', key: awaited })
    }
  }
  return [...ops.values()]
}
