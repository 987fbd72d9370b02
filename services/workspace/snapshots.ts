import { randomBytes } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { newId } from '../lib/ids.ts'
import { createKeyedLock } from '../lib/keyed-lock.ts'
import { undoFileKey, undoTreeKey, type Op, type Store } from '../store/index.ts'
import { CopiesUnavailable } from './places.ts'
import type { UndoSpace } from './space.ts'
import type { Compared, FolderWorker, LeftOut, TreeFile, TreeRequest } from './tree-rpc.ts'

/** Paths of a folder that is known before a command. */
const MOST_PATHS = 20_000
/** Bytes of the contents of such a folder; less where less is kept in all. */
const MOST_BYTES = 1024 ** 3
/** The first record of a large folder reads all of it. */
const RECORD_MS = 120_000

/** The stored record of a folder: where the list of its paths is, and how large that is. */
interface StoredTree {
  record: TreeFile
  bytes: number
}

/** What a command may change: its folder, and a git directory outside of it. */
export interface CommandPlace {
  folder: string
  gitDirectory?: string
}

/** Which records know a folder, and the git directory outside of it. */
export interface FolderSnapshot {
  folder: string
  record: TreeFile
  above?: { folder: string, record: TreeFile }
}

/** A folder as it was before a command. */
interface TakenSnapshot extends FolderSnapshot {
  /** Why nothing is known of the git directory outside of the folder. */
  unknown?: string
  leftOut: LeftOut
  /** Lets its files go. */
  release(): void
}

export type Snapshots = ReturnType<typeof createSnapshots>

/**
 * Folders that commands work in, known by snapshots of their files (folder-snapshot.ts): what a command changed there is what differs
 * from the record before it. Contents are copied once, and then only those that changed.
 */
export function createSnapshots ({ store, lookAround, folder: undoFolder, space, worker }: {
  store: Store,
  /** Returns what holds for a folder from outside of it; rejects for one that tools may not use. */
  lookAround: (folder: string) => Promise<Pick<TreeRequest, 'parents' | 'excluded'>>,
  /** Where the files of undo are. */
  folder: string,
  space: UndoSpace,
  worker: FolderWorker
}) {
  const locked = createKeyedLock()

  const limits = () => {
    const { file, total } = space.limits()
    return { paths: MOST_PATHS, bytes: Math.min(MOST_BYTES, total), file }
  }
  /** Undefined for a folder that tools may not use. */
  const scopeOf = async (folder: string) => {
    const scope = await lookAround(folder).catch(() => undefined)
    return scope && { folder, parents: scope.parents, excluded: scope.excluded, store: undoFolder, limits: limits() }
  }
  const newFile = (): TreeFile => ({ id: newId(), key: randomBytes(32).toString('base64') })

  async function recordNow (folder: string, signal: AbortSignal): Promise<TakenSnapshot | { why: string }> {
    const key = undoTreeKey(store.digest(folder))
    const last = await store.get<StoredTree>(key).catch(() => undefined)
    const next = { record: newFile(), contents: newFile() }
    await mkdir(undoFolder, { recursive: true, mode: 0o700 })
    const unuse = space.use([next.record.id, next.contents.id])
    let isStored = false
    try {
      const scope = await scopeOf(folder)
      if (scope === undefined) return { why: UNSEEN }
      const request = { ...scope, last: last?.record, next }
      const recorded = await worker.run('takeFolder', request, { signal, ms: RECORD_MS }).catch(unseen(signal))
      if (recorded.is === 'unseen') return { why: UNSEEN }
      if (recorded.is === 'beyond') return { why: beyond(recorded.limit, scope.limits) }
      if (recorded.is === 'failed') throw new CopiesUnavailable(recorded.reason)
      const { written, leftOut } = recorded
      const record = written === undefined ? last!.record : next.record
      const release = space.use([record.id, ...recorded.contents])
      if (written !== undefined) {
        const file = (id: string, bytes: number): Op => ({ type: 'put', key: undoFileKey(id, bytes), value: true })
        await store.transact([
          { type: 'put', key, value: { record, bytes: written.record } satisfies StoredTree },
          file(record.id, written.record),
          ...written.contents > 0 ? [file(next.contents.id, written.contents)] : []
        ])
        isStored = true
        if (last !== undefined) await space.drop(last.record.id, last.bytes)
        await space.add(written.record + written.contents)
      }
      return { folder, record, leftOut, release }
    } finally {
      if (!isStored) for (const { id } of [next.record, next.contents]) await rm(join(undoFolder, id), { force: true })
      unuse()
    }
  }

  return {
    /**
     * Knows what is in the place, with real paths, durably; or says why it cannot. Throws CopiesUnavailable (a full disk), and the
     * reason of the signal.
     */
    async take ({ folder, gitDirectory }: CommandPlace, signal: AbortSignal): Promise<TakenSnapshot | { why: string }> {
      const known = await locked(folder, () => recordNow(folder, signal))
      if ('why' in known || gitDirectory === undefined) return known
      const above = await locked(gitDirectory, () => recordNow(gitDirectory, signal)).catch((error) => {
        known.release()
        throw error
      })
      if ('why' in above) return { ...known, unknown: unknownRepository(gitDirectory) }
      return {
        ...known,
        above: { folder: above.folder, record: above.record },
        release () {
          known.release()
          above.release()
        }
      }
    },

    /** Says in sentences what of the place could be undone. */
    async outlook ({ folder, gitDirectory }: CommandPlace, signal: AbortSignal): Promise<string> {
      const looked = await lookAhead(folder, signal)
      if ('why' in looked) return `What it changes cannot be undone. ${looked.why}`
      const above = gitDirectory === undefined ? undefined : await lookAhead(gitDirectory, signal)
      const places = [folder, ...above === undefined || 'why' in above ? [] : [gitDirectory]].map((each) => JSON.stringify(each))
      const sentences = [
        `What it changes in ${places.join(' and in ')} can be undone.`,
        looked.leftOut,
        above && ('why' in above ? unknownRepository(gitDirectory!) : above.leftOut)
      ]
      return sentences.filter((sentence) => sentence !== undefined && sentence !== '').join(' ')
    },

    /** Returns what differs from what was known. Rejects when a record is gone, or the folder cannot be read. */
    async diff ({ above, ...inside }: FolderSnapshot): Promise<Compared> {
      const found = [await diffOne(inside), ...above === undefined ? [] : [await diffOne(above)]]
      return {
        differences: found.flatMap(({ differences }) => differences),
        units: Object.assign({}, ...found.map(({ units }) => units)),
        contents: Object.assign({}, ...found.map(({ contents }) => contents)),
        strange: found.flatMap(({ strange }) => strange),
        unseen: found.flatMap(({ unseen }) => unseen)
      }
    }
  }

  async function diffOne ({ folder, record }: { folder: string, record: TreeFile }): Promise<Compared> {
    const scope = await scopeOf(folder)
    if (scope === undefined) throw new Error('the folder cannot be looked at')
    return worker.run('diffFolder', { ...scope, record }, { signal: new AbortController().signal, ms: RECORD_MS })
  }

  async function lookAhead (folder: string, signal: AbortSignal): Promise<{ leftOut: string } | { why: string }> {
    const scope = await scopeOf(folder)
    const recorded = scope && await worker.run('takeFolder', scope, { signal, ms: RECORD_MS }).catch(unseen(signal))
    if (recorded === undefined || recorded.is === 'unseen') return { why: UNSEEN }
    if (recorded.is === 'beyond') return { why: beyond(recorded.limit, limits()) }
    return { leftOut: recorded.is === 'failed' ? '' : describeLeftOut(recorded.leftOut) }
  }
}

const unknownRepository = (gitDirectory: string): string => `What it does in ${JSON.stringify(gitDirectory)} is not known here.`

const UNSEEN = 'The folder could not be looked at: no copy of its files is kept.'

/** A folder that cannot be walked, or not in time, holds up no command. Throws the reason of an abort. */
const unseen = (signal: AbortSignal) => () => {
  signal.throwIfAborted()
  return { is: 'unseen' as const }
}

const beyond = (limit: 'paths' | 'bytes', { paths, bytes }: { paths: number, bytes: number }): string =>
  limit === 'paths'
    ? `The folder holds more than ${paths} files and folders: no copy of them is kept.`
    : `The files of the folder are larger than ${Math.round(bytes / 1024 ** 2)} MiB together: no copy of them is kept.`

/** Says what of a folder is not kept; '' for nothing. */
export function describeLeftOut ({ folders, more, files, repositories }: LeftOut): string {
  const named = [...folders.slice(0, 5), ...more + folders.length > 5 ? [`${more + folders.length - 5} more`] : []].join(', ')
  return [
    folders.length > 0 && `No copy is kept of ${named}.`,
    files > 0 && `No copy is kept of ${files} ${files === 1 ? 'file' : 'files'} too large or unreadable.`,
    repositories.length > 0 && `Of the repository ${repositories.map((path) => path || '.').join(', ')} a part is not kept: a command ` +
      'that rewrites that part, such as "git gc", cannot be undone there.'
  ].filter((sentence) => sentence !== false).join(' ')
}
