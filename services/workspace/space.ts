import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../schemas/config.ts'
import type { Clock } from '../lib/clock.ts'
import { timeOfId } from '../lib/ids.ts'
import { createKeyedLock } from '../lib/keyed-lock.ts'
import type { SealedFile } from '../lib/sealed-file.ts'
import { UNDO_ENTRIES, UNDO_FILES, undoFileKey, UNDO_OWNERS, UNDO_TREES, UNDO_WORKS, type Op, type Store } from '../store/index.ts'

const MIB = 1024 * 1024
const DAY_MS = 24 * 60 * 60 * 1000
const DEFAULTS = { maxFileMb: 20, maxTotalMb: 2048, days: 30 }
/** The number of bytes that are counted for each file in addition to its content, so that the number of small files is limited, too. */
const FILE_BYTES = 4096
/** The share of the space that remains in use when files are removed, so that this happens rarely. */
const LEFT = 0.9
/** The number of operations in a transaction. */
const BATCH = 500

/**
 * The stored record of a folder: the file with the list of its paths, the size of that file in bytes, and the ids of the files with its
 * contents.
 */
export interface StoredTree {
  record: SealedFile
  bytes: number
  contents: string[]
}

/** Returns the size, in bytes, up to which a file is kept. */
export function largestKept (settings: Config['undo']): number {
  const { maxFileMb, maxTotalMb } = { ...DEFAULTS, ...settings }
  return Math.min(maxFileMb, maxTotalMb) * MIB
}

export type UndoSpace = ReturnType<typeof createUndoSpace>

/** Limits what is kept for undo: by its age, and by the total size of its files. */
export function createUndoSpace (
  { store, clock, folder, settings }: { store: Store, clock: Clock, folder: string, settings: () => Config['undo'] }
) {
  const inOrder = createKeyedLock()
  /** Entries that a call is writing or an undo is reading, with the number of users. They are not removed. */
  const inUse = new Map<string, number>()
  /** The size of all files, bytes; undefined until it is needed. */
  let total: number | undefined

  const limits = () => {
    const { maxTotalMb, days } = { ...DEFAULTS, ...settings() }
    return { file: largestKept(settings()), total: maxTotalMb * MIB, days }
  }

  async function remove (ops: Op[], files: string[]): Promise<void> {
    for (let at = 0; at < ops.length; at += BATCH) await store.transact(ops.slice(at, at + BATCH))
    for (const id of files) await rm(join(folder, id), { force: true })
  }

  return {
    limits,

    use (ids: readonly string[]): () => void {
      for (const id of ids) inUse.set(id, (inUse.get(id) ?? 0) + 1)
      let isUsed = true
      return () => {
        for (const id of isUsed ? ids : []) {
          if (inUse.get(id) === 1) inUse.delete(id)
          else inUse.set(id, inUse.get(id)! - 1)
        }
        isUsed = false
      }
    },

    /** Counts a new file of this size, and removes the oldest files if there is no room for it. */
    add: (bytes: number): Promise<void> =>
      inOrder('total', async () => {
        if (total === undefined) {
          total = 0
          for await (const key of store.keys(UNDO_FILES)) total += sizeIn(key)
        }
        total += bytes + FILE_BYTES
        const limit = limits().total
        if (total <= limit) return
        const ops: Op[] = []
        const files: string[] = []
        for await (const key of store.keys(UNDO_FILES)) {
          if (total <= limit * LEFT) break
          if (inUse.has(idIn(key))) continue
          ops.push({ type: 'del', key })
          files.push(idIn(key))
          total -= sizeIn(key)
        }
        await remove(ops, files)
      }),

    /** Removes a file of this size that is no longer needed; a file in use is removed when it is old. */
    drop: (id: string, bytes: number): Promise<void> =>
      inOrder('total', async () => {
        if (inUse.has(id)) return
        await remove([{ type: 'del', key: undoFileKey(id, bytes) }], [id])
        if (total !== undefined) total -= bytes + FILE_BYTES
      }),

    /** Called when files were removed in another way: their total size is computed again when it is next needed. */
    recount () {
      total = undefined
    },

    /** Removes what is older than the limit, and the files of entries that were removed. */
    sweep: (signal?: AbortSignal): Promise<void> =>
      inOrder('total', async () => {
        // Read first: an entry that is written meanwhile must not look abandoned.
        const begun = clock.now()
        const names = await readdir(folder).catch((): string[] => [])
        const used = new Set(inUse.keys())
        const known = new Set<string>()
        const limit = clock.now() - limits().days * DAY_MS
        const isOld = (id: string) => timeOfId(id) <= limit && !used.has(id)
        const ops: Op[] = []
        let isUsed = used.size > 0
        const entries = new Set<string>()
        for await (const key of store.keys(UNDO_ENTRIES)) {
          if (isOld(idIn(key))) ops.push({ type: 'del', key })
          else entries.add(idIn(key))
        }
        if (entries.size > 0) isUsed = true
        // Records of folders are needed only as long as there are entries.
        if (!isUsed) for await (const key of store.keys(UNDO_TREES)) ops.push({ type: 'del', key })
        for (const named of [UNDO_OWNERS, UNDO_WORKS]) {
          for await (const [key, { at }] of store.list<{ at: number }>(named, { signal, damaged () {} })) {
            if (at <= limit) ops.push({ type: 'del', key })
          }
        }
        const unclear: string[] = []
        for await (const key of store.keys(UNDO_FILES)) {
          const id = idIn(key)
          if (isOld(id) || !isUsed) ops.push({ type: 'del', key })
          else if (entries.has(id) || used.has(id) || timeOfId(id) >= begun) known.add(id)
          else unclear.push(key)
        }
        const named = unclear.length === 0 ? undefined : await namedFiles(store)
        for (const key of unclear) {
          if (named?.has(idIn(key)) === false) ops.push({ type: 'del', key })
          else known.add(idIn(key))
        }
        signal?.throwIfAborted()
        await remove(ops, names.filter((name) => !known.has(name) && !used.has(name)))
        total = undefined
      })
  }
}

/**
 * Returns the ids of the files that snapshots of folders and the changes of commands name. Returns undefined while the changes of a command
 * are not known, because its snapshot might name more files, and if a record is damaged.
 */
async function namedFiles (store: Store): Promise<Set<string> | undefined> {
  const named = new Set<string>()
  let isKnown = true
  const damaged = () => {
    isKnown = false
  }
  for await (const [, { record, contents }] of store.list<StoredTree>(UNDO_TREES, { damaged })) {
    for (const id of [record.id, ...contents]) named.add(id)
  }
  for await (const [, { tree, contents = {} }] of store.list<{ tree?: object, contents?: object }>(UNDO_ENTRIES, { damaged })) {
    if (tree !== undefined) isKnown = false
    for (const id of Object.keys(contents)) named.add(id)
  }
  return isKnown ? named : undefined
}

/** Returns the id of the entry in the key of an entry or of its file. */
const idIn = (key: string): string => key.startsWith(UNDO_FILES) ? key.split('/')[1] : key.split('/')[2]
const sizeIn = (key: string): number => Number(key.split('/')[2]) + FILE_BYTES
