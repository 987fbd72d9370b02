import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createKeyedLock } from '../lib/keyed-lock.ts'
import { undoFileKey, undoTreeKey, type Op, type Store } from '../store/index.ts'
import { CopiesUnavailable } from './places.ts'
import { newSealedFile, type SealedFile } from '../lib/sealed-file.ts'
import type { StoredTree, UndoSpace } from './space.ts'
import type { Compared, FolderWorker, Recorded, RecordRequest, TreeRequest } from './tree-rpc.ts'

/** The most paths of a folder that is recorded before a command. */
const MOST_PATHS = 20_000
/** The most bytes of the contents of such a folder; fewer if the limit of all kept contents is smaller. */
const MOST_BYTES = 1024 ** 3
/** The time limit of a record, milliseconds. The first record of a large folder reads all of it. */
const RECORD_MS = 120_000

/** What a command can change: its folder, and a git directory outside of it. */
export interface CommandPlace {
  folder: string
  gitDirectory?: string
}

/** The record of a folder before a command. */
interface FolderRecord {
  folder: string
  record: SealedFile
}

/** A recorded folder. Its files are kept at least until `release`. */
interface RecordedFolder extends FolderRecord {
  /** Sentences that say which parts of the folder are not kept; '' if everything is. */
  leftOut: string
  release(): void
}

/** The records of the folder of a command, and of the git directory outside of it. */
export type FolderSnapshot = FolderRecord[]

export type Snapshots = ReturnType<typeof createSnapshots>

/**
 * Creates the service for snapshots of the folders that commands work in (folder-snapshot.ts). A command changed what differs from the
 * record before it. Contents are copied once; after that, only those that changed.
 */
export function createSnapshots ({ store, lookAround, folder: undoFolder, space, worker }: {
  store: Store,
  /** Returns the outer folders whose .gitignore applies, and the files to leave out. Rejects if tools must not use the folder. */
  lookAround: (folder: string) => Promise<Pick<TreeRequest, 'parents' | 'excluded'>>,
  /** The folder with the files of undo. */
  folder: string,
  space: UndoSpace,
  worker: FolderWorker
}) {
  const locked = createKeyedLock()

  const requestOf = async (folder: string): Promise<TreeRequest> => {
    const { file, total } = space.limits()
    const { parents, excluded } = await lookAround(folder)
    return { folder, parents, excluded, store: undoFolder, limits: { paths: MOST_PATHS, bytes: Math.min(MOST_BYTES, total), file } }
  }

  /** Examines a folder; with `next`, also records it. Throws the reason of an abort. */
  async function look (folder: string, files: Pick<RecordRequest, 'last' | 'next'>, signal: AbortSignal): Promise<Recorded> {
    try {
      return await worker.run('takeFolder', { ...await requestOf(folder), ...files }, { signal, ms: RECORD_MS })
    } catch {
      // A folder that tools must not use, or that cannot be walked in time, does not delay a command.
      signal.throwIfAborted()
      return { why: 'The folder could not be looked at: no copy of its files is kept.' }
    }
  }

  async function record (folder: string, signal: AbortSignal): Promise<RecordedFolder | { why: string }> {
    const key = undoTreeKey(store.digest(folder))
    const last = await store.get<StoredTree>(key).catch(() => undefined)
    const next = { record: newSealedFile(), contents: newSealedFile() }
    const unuse = space.use([next.record.id, next.contents.id])
    let isStored = false
    try {
      const recorded = await look(folder, { last: last?.record, next }, signal)
      if ('why' in recorded) return recorded
      if ('failed' in recorded) throw new CopiesUnavailable(recorded.failed)
      const { written, leftOut, contents } = recorded
      const newest = written === undefined ? last!.record : next.record
      const release = space.use([newest.id, ...contents])
      if (written !== undefined) {
        const file = (id: string, bytes: number): Op => ({ type: 'put', key: undoFileKey(id, bytes), value: true })
        await store.transact([
          { type: 'put', key, value: { record: newest, bytes: written.record, contents } satisfies StoredTree },
          file(newest.id, written.record),
          ...written.contents > 0 ? [file(next.contents.id, written.contents)] : []
        ])
        isStored = true
        if (last !== undefined) await space.drop(last.record.id, last.bytes)
        await space.add(written.record + written.contents)
      }
      return { folder, record: newest, leftOut, release }
    } finally {
      if (!isStored) for (const { id } of [next.record, next.contents]) await rm(join(undoFolder, id), { force: true })
      unuse()
    }
  }

  return {
    /**
     * Records the content of the place (real paths) durably, or returns why that is impossible. Throws CopiesUnavailable if the disk is
     * full, and the reason of the signal.
     */
    async take (
      { folder, gitDirectory }: CommandPlace,
      signal: AbortSignal
    ): Promise<Omit<RecordedFolder, keyof FolderRecord> & { records: FolderSnapshot } | { why: string }> {
      const inside = await locked(folder, () => record(folder, signal))
      if ('why' in inside) return inside
      const recordAbove = async () => gitDirectory === undefined ? undefined : locked(gitDirectory, () => record(gitDirectory, signal))
      const above = await recordAbove().catch((error) => {
        inside.release()
        throw error
      })
      const found = [inside, ...above === undefined || 'why' in above ? [] : [above]]
      return {
        records: found.map(({ folder, record }) => ({ folder, record })),
        leftOut: sentencesOf(inside, above, gitDirectory),
        release: () => found.forEach(({ release }) => release())
      }
    },

    /** Returns sentences that say which changes in the place could be undone. */
    async outlook ({ folder, gitDirectory }: CommandPlace, signal: AbortSignal): Promise<string> {
      const inside = await look(folder, {}, signal)
      if ('why' in inside) return `What it changes cannot be undone. ${inside.why}`
      const above = gitDirectory === undefined ? undefined : await look(gitDirectory, {}, signal)
      const places = [folder, ...above === undefined || 'why' in above ? [] : [gitDirectory]].map((each) => JSON.stringify(each))
      return `What it changes in ${places.join(' and in ')} can be undone. ${sentencesOf(inside, above, gitDirectory)}`.trim()
    },

    /** Returns the differences from the records. Rejects if a record was removed, or if a folder cannot be read. */
    async diff (records: FolderSnapshot): Promise<Compared> {
      const found: Compared[] = []
      for (const { folder, record } of records) {
        const request = { ...await requestOf(folder), record }
        found.push(await worker.run('diffFolder', request, { signal: new AbortController().signal, ms: RECORD_MS }))
      }
      return {
        differences: found.flatMap(({ differences }) => differences),
        units: Object.assign({}, ...found.map(({ units }) => units)),
        contents: Object.assign({}, ...found.map(({ contents }) => contents)),
        strange: found.flatMap(({ strange }) => strange),
        unseen: found.flatMap(({ unseen }) => unseen)
      }
    }
  }
}

/** Returns sentences that say which parts of a folder, and of the git directory outside of it, are not kept. */
function sentencesOf (inside: object, above: object | undefined, gitDirectory?: string): string {
  const leftOut = (folder: object | undefined) => folder && 'leftOut' in folder ? folder.leftOut : ''
  const unknown = above && 'why' in above ? `What it does in ${JSON.stringify(gitDirectory)} is not known here.` : ''
  return [leftOut(inside), leftOut(above), unknown].filter((sentence) => sentence !== '').join(' ')
}
