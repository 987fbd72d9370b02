import { existsSync } from 'node:fs'
import { mkdir, readdir, realpath, rename, rm, stat } from 'node:fs/promises'
import { basename, join, parse, relative, sep } from 'node:path'
import type { Applied, ApplyBody } from '../../schemas/undo.ts'
import type { Clock } from '../lib/clock.ts'
import { describeDiskFailure } from '../lib/disk-failure.ts'
import { onceFree } from '../lib/file-system.ts'
import { isId, newId } from '../lib/ids.ts'
import { isOpenedChange } from '../lib/obeyed-names.ts'
import { createKeyedLock } from '../lib/keyed-lock.ts'
import type { Log } from '../lib/log.ts'
import { defineError, ServiceError } from '../lib/service-error.ts'
import { COPIES, copyKey, type Store } from '../store/index.ts'
import { type PathPolicy, type Transform, within } from '../tools/index.ts'
import type { Undo } from '../undo/index.ts'
import { type Cloned, type Difference, refreshClone, type SettleCloneRequest, type States } from '../workspace/index.ts'

/** How long a copy is kept after a run has last used it, in milliseconds. */
const KEPT_MS = 7 * 24 * 3_600_000
/** The most copies that exist at the same time. */
const MAX_COPIES = 32
/** The most paths and bytes that are copied where the file system cannot clone files. */
const LIMITS = { paths: 20_000, bytes: 1024 ** 3 }
/** The time limit of a copy and of a comparison, milliseconds. */
const COPY_MS = 300_000
const BASE = 'base.json'

const Refused = defineError('ERR_COPY_REFUSED', 'No copy of the folder can be made: %s.')
const RunLive = defineError(
  'ERR_RUN_LIVE',
  'The run "%s" is not over. Stop it, or answer what it waits for, before its changes are taken over.'
)
const RunUnknown = defineError('ERR_RUN_NOT_FOUND', 'There is no run "%s" of a conversation. GET /runs lists them.')
const NothingToApply = defineError(
  'ERR_COPY_REFUSED',
  'The run "%s" is a rehearsal: what it did in its copy is not taken over. Accept lines of its sheet (POST /grants), and let it run.'
)
const DiscardsAll = defineError('ERR_INVALID_REQUEST', '"discard" deletes the whole copy: leave out "paths".')
const NotACopy = defineError('ERR_COPY_REFUSED', 'The run "%s" does not work on a copy, or its copy is not kept any more.')

const FolderGone = defineError(
  'ERR_COPY_REFUSED',
  'The folder "%s" is not there any more, and nothing was changed. The copy is kept: put the folder back, and send the request again.'
)

/** The prefix of `thread` in the record of a rehearsal's copy. Such a copy is useless after the service has ended. */
const REHEARSAL = 'rehearsal-'

/** A copy of a folder for a conversation, or for a rehearsal. */
interface CopyRecord {
  /** Digest of the conversation, or REHEARSAL and the id of the run. */
  thread: string
  /** Real path of the folder that was copied. */
  real: string
  /** When a run last used the copy, in milliseconds since the Unix epoch. */
  usedAt: number
}

interface Known extends CopyRecord {
  id: string
  /** Real path of the copy. */
  folder: string
}

/** A run that can work on a copy. */
interface RunInCopy {
  cwd: string
  /** Absent for the rehearsal of a task. */
  threadId?: string
  /** True if the run has not ended. */
  isLive: boolean
  /** True if some run of its conversation has not ended. */
  isBusy: boolean
  isRehearsal: boolean
}

interface CopyParts {
  store: Store
  clock: Clock
  /** The folder that contains the copies, each in a folder of its own. */
  root: string
  /** The folder of configuration and data of the service. */
  ownHome: string
  /** The home folders of users, which are never copied. */
  homes: string[]
  transform: Transform
  paths: PathPolicy
  undo: Pick<Undo, 'takeOver'>
  log: Pick<Log, 'warn'>
  /**
   * Stops the commands of a run, or of its whole conversation. Resolves when their changes are stored. The copy must still exist for that.
   */
  endCommands: (owner: { runId: string, threadId?: string }) => Promise<void>
  /** Returns where a run of a conversation, or a rehearsal, works; undefined for other runs. */
  placeOf: (runId: string) => Promise<RunInCopy | undefined>
}

export type Copies = ReturnType<typeof createCopies>

/**
 * Copies of folders in which runs work, so that a person decides afterwards which of their changes are applied to the folder. Models and
 * people are shown the paths of the folder itself.
 */
export function createCopies ({ store, clock, root, ownHome, homes, transform, paths, undo, log, endCommands, placeOf }: CopyParts) {
  const known = new Map<string, Known>()
  const locked = createKeyedLock()
  const { signal } = new AbortController()
  /** The real path of `root`, as soon as that folder exists. */
  let place = root

  /** Returns the copy whose folder is at a path or contains it. */
  const copyAt = (path: string): Known | undefined => {
    const found = path.startsWith(place + sep) ? known.get(relative(place, path).split(sep)[0]) : undefined
    return found !== undefined && within(path, found.folder) ? found : undefined
  }

  /** Returns the copy that a conversation has of a folder. */
  const ofThread = (thread: string, real: string): Known | undefined =>
    [...known.values()].find((copy) => copy.thread === thread && (copy.real === real || within(real, copy.folder)))

  async function remove ({ id, thread }: Known): Promise<void> {
    known.delete(id)
    await store.transact([{ type: 'del', key: copyKey(thread, id) }])
    await rm(join(place, id), { recursive: true, force: true })
  }

  const removeOf = (thread: string): Promise<void> =>
    locked(thread, async () => {
      for (const copy of known.values()) if (copy.thread === thread) await remove(copy)
    })

  /** Makes a copy of `from`: of the folder `real` itself, or of a copy of it. */
  async function make (thread: string, real: string, from = real): Promise<Known> {
    if (within(ownHome, real) || within(place, real)) throw new Refused('it holds the data of the service')
    const isHome = real === parse(real).root || homes.some((home) => within(home, real))
    if (isHome) throw new Refused('it is a home, or holds one. Work in a folder inside it')
    if (known.size >= MAX_COPIES) await removeOld()
    if (known.size >= MAX_COPIES) throw new Refused(`there are ${MAX_COPIES} already. Delete a conversation that has one`)
    await mkdir(root, { recursive: true, mode: 0o700 })
    place = await realpath(root)
    const id = newId()
    const draft = join(place, `${id}.partial`)
    try {
      await mkdir(draft, { mode: 0o700 })
      const name = basename(real)
      const request = { folder: from, clone: join(draft, name), base: join(draft, BASE), limits: LIMITS }
      const made = await transform.run('cloneFolder', request, { signal, ms: COPY_MS })
      if ('beyond' in made) {
        throw new Refused(made.beyond === 'paths'
          ? `it has more than ${LIMITS.paths} files and folders`
          : `its files have more than ${LIMITS.bytes / 1024 ** 2} MiB, and its file system does not clone files`)
      }
      if (made.left.length > 0) log.warn({ folder: real, left: made.left }, 'a copy of a folder leaves out some of its files')
      await onceFree(clock, signal, () => rename(draft, join(place, id)))
      const record = { thread, real, usedAt: clock.now() }
      await store.transact([{ type: 'put', key: copyKey(thread, id), value: record }])
      const copy = { ...record, id, folder: join(place, id, name) }
      known.set(id, copy)
      return copy
    } catch (error) {
      await rm(draft, { recursive: true, force: true })
      throw refusalOf(error)
    }
  }

  const clonedOf = ({ id, folder, real }: Known): Cloned => ({ folder: real, clone: folder, base: join(place, id, BASE) })

  /** Returns how a folder, or its copy, differs from the state when it was copied; undefined if there are too many paths. */
  const compare = (copy: Known, changed: 'folder' | 'clone'): Promise<Difference[] | undefined> =>
    transform.run('compareClone', { ...clonedOf(copy), changed, mostPaths: LIMITS.paths * 10 }, { signal, ms: COPY_MS })

  /** Records that these paths are now the same in the folder and in the copy. */
  async function settle (copy: Known, paths: string[], how: Pick<SettleCloneRequest, 'found' | 'isTakenBack'> = {}): Promise<void> {
    if (paths.length === 0) return
    const inner = paths.map((path) => relative(copy.real, path))
    await transform.run('settleClone', { ...clonedOf(copy), paths: inner, ...how }, { signal, ms: COPY_MS })
  }

  /** Copies changes that were made in the folder meanwhile to the copy. Throws Refused (409) on a full disk. */
  async function refresh (copy: Known): Promise<void> {
    const { id, folder, real } = copy
    try {
      const differences = await compare(copy, 'folder')
      const bytes = (differences ?? []).reduce((sum, { row }) => sum + (row?.size ?? 0), 0)
      if (differences === undefined || bytes > LIMITS.bytes) {
        return log.warn({ folder: real }, 'a copy stays behind its folder, as too much was changed')
      }
      const { brought, failed } = await refreshClone(differences, { from: real, to: folder, drafts: join(place, id), paths, clock })
      for (const { path, error } of failed) log.warn({ err: error, path }, 'a change of a folder could not be brought into its copy')
      const found = differences.flatMap(({ path, row }) => row === undefined ? [] : [[path, row] satisfies States[number]])
      await settle(copy, brought.map((path) => join(real, relative(folder, path))), { found })
    } catch (error) {
      throw refusalOf(error)
    }
  }

  /** Deletes copies that no run has used for long. */
  async function removeOld (): Promise<void> {
    for (const copy of known.values()) if (copy.usedAt < clock.now() - KEPT_MS) await remove(copy)
  }

  /**
   * Deletes what removeOld deletes, copies that no record names, and temporary files of a refresh that was interrupted. Does nothing if
   * there is no folder of copies.
   */
  async function sweep (): Promise<void> {
    await removeOld()
    for (const name of await readdir(place).catch(() => [])) {
      const copy = known.get(name)
      if (copy === undefined) await rm(join(place, name), { recursive: true, force: true })
      else {
        const beside = (await readdir(join(place, name))).filter((each) => ![BASE, basename(copy.folder)].includes(each))
        for (const each of beside) await rm(join(place, name, each), { recursive: true, force: true })
      }
    }
  }

  return {
    copyAt,

    /** Whether a path is in a copy other than the one that contains `cwd`. */
    isForeign: (path: string, cwd: string): boolean => {
      const copy = copyAt(cwd)
      return within(path, place) && (copy === undefined || !within(path, copy.folder))
    },

    /** Loads the records of the copies that exist, and deletes remains of others. */
    async load (): Promise<void> {
      place = await realpath(root).catch(() => root)
      for await (const [key, record] of store.list<CopyRecord>(COPIES, { damaged () {} })) {
        const id = key.slice(key.lastIndexOf('/') + 1)
        const copy = { ...record, id, folder: join(place, id, basename(record.real)) }
        if (existsSync(copy.folder) && !record.thread.startsWith(REHEARSAL)) known.set(id, copy)
        else await store.transact([{ type: 'del', key }])
      }
      if (existsSync(place)) await sweep()
    },

    /**
     * Returns the real path of the conversation's copy of a folder. Makes the copy if there is none; otherwise copies to it what was
     * changed in the folder meanwhile. Throws Refused (409).
     */
    open: (thread: string, folder: string): Promise<string> =>
      locked(thread, async () => {
        const real = await realFolder(folder)
        const own = ofThread(thread, real)
        if (own === undefined) return (await make(thread, real)).folder
        await refresh(own)
        const { id, folder: _, ...record } = own
        own.usedAt = clock.now()
        await store.transact([{ type: 'put', key: copyKey(thread, id), value: { ...record, usedAt: own.usedAt } }])
        return own.folder
      }),

    /** Returns the real path of a new copy of a folder, or of a copy of it, for a rehearsal. Throws Refused (409). */
    async openOwn (runId: string, folder: string): Promise<string> {
      const from = await realFolder(folder)
      return (await make(REHEARSAL + runId, copyAt(from)?.real ?? from, from)).folder
    },

    /** Stops the commands of a rehearsal, and deletes its copy. A failure is only logged. */
    async removeOwn (runId: string): Promise<void> {
      try {
        await endCommands({ runId })
        await removeOf(REHEARSAL + runId)
      } catch (error) {
        log.warn({ err: error, runId }, 'the copy of a rehearsal could not be deleted')
      }
    },

    /** Returns the real path of the conversation's copy of a folder; undefined if there is none. */
    async find (thread: string, folder: string): Promise<string | undefined> {
      const real = await realpath(folder).catch(() => undefined)
      return real === undefined ? undefined : ofThread(thread, real)?.folder
    },

    /**
     * Applies the changes of a run's copy to the folder: at all paths, or at some. A path that somebody changed in the folder meanwhile is
     * left as it is. What is replaced is kept under `applyId`, like the changes of a run. Throws RunUnknown (404), NotACopy,
     * NothingToApply, FolderGone and RunLive (409), NotChanged and DiscardsAll (400) and CopiesUnavailable (503). With `discard`, the copy
     * is deleted instead.
     */
    async apply (runId: string, { discard = false, ...body }: ApplyBody): Promise<Applied> {
      const run = isId(runId) ? await placeOf(runId) : undefined
      if (run === undefined) throw new RunUnknown(runId)
      if (run.isRehearsal) throw new NothingToApply(runId)
      const copy = copyAt(run.cwd)
      if (copy === undefined) throw new NotACopy(runId)
      if (discard && body.paths !== undefined) throw new DiscardsAll()
      if (discard ? run.isBusy : run.isLive) throw new RunLive(runId)
      return locked(copy.thread, async () => {
        const { id, folder, real } = copy
        // The copy was deleted with its conversation meanwhile.
        if (!known.has(id)) throw new NotACopy(runId)
        if (discard && !body.dryRun) {
          await endCommands({ runId, threadId: run.threadId })
          await remove(copy)
          return { applied: [], skipped: [], discarded: true }
        }
        if (!await isFolder(real)) throw new FolderGone(real)
        const differences = await compare(copy, 'clone')
        if (differences === undefined) throw new Refused(`the copy has more than ${LIMITS.paths * 10} files and folders by now`)
        const named = body.paths?.map((path) => within(path, folder) ? join(real, relative(folder, path)) : path)
        const opened = findOpened(differences, { real, named })
        const others = differences.filter(({ path }) => !opened.includes(path))
        const { done, skipped, ...rest } = await undo.takeOver(others, { ...body, ...named && { paths: named } }, {
          of: runId,
          folder,
          real,
          owner: copy.thread
        })
        if (!body.dryRun) await settle(copy, done)
        const unnamed = opened.map((path) => ({ path: join(real, path), reason: 'opens' as const }))
        return { applied: done, skipped: [...skipped, ...unnamed], ...rest }
      })
    },

    /** Records that an apply of these paths was undone: they can be applied again. */
    takenBack: (thread: string, paths: readonly string[]): Promise<void> =>
      locked(thread, async () => {
        for (const copy of known.values()) {
          const own = paths.filter((path) => copy.thread === thread && within(path, copy.real))
          await settle(copy, own, { isTakenBack: true })
        }
      }),

    /** Deletes the copies of a conversation. */
    removeOf,

    /** Returns the value with all paths of copies in it replaced by the paths of their folders. */
    shown<T> (value: T): T {
      if (known.size === 0 || value === undefined) return value
      const text = JSON.stringify(value)
      if (!text.includes(JSON.stringify(place).slice(1, -1))) return value
      let shown = text
      for (const { folder, real } of known.values()) {
        // A function, because `$&` and similar sequences have a meaning in a replacement text.
        shown = shown.replaceAll(JSON.stringify(folder).slice(1, -1), () => JSON.stringify(real).slice(1, -1))
      }
      return JSON.parse(shown)
    }
  }
}

const isFolder = (path: string): Promise<boolean> => stat(path).then((found) => found.isDirectory(), () => false)

/** Returns the real path of a folder. Throws Refused (409) if it does not exist. */
async function realFolder (folder: string): Promise<string> {
  if (!await isFolder(folder)) throw new Refused(`there is no folder "${folder}". Put it back, or work in another one`)
  return realpath(folder)
}

/** Returns the error to report when a copy cannot be made. */
function refusalOf (error: unknown): unknown {
  const failure = error instanceof ServiceError && error.code === 'ERR_COPY_REFUSED' ? undefined : describeDiskFailure(error)
  return failure === undefined ? error : new Refused(`${failure}. Make room on the disk of the configuration folder and try again`)
}

/**
 * Returns the changed paths of a copy, relative to its folder, that are applied only if they are named, because programs execute such
 * files, or act on them by themselves, as soon as somebody opens the folder. A repository that the folder does not have is applied with its
 * settings, without its hooks.
 */
const findOpened = (differences: readonly Difference[], { real, named = [] }: { real: string, named?: readonly string[] }): string[] =>
  differences.map(({ path }) => path).filter((path) => {
    if (!isOpenedChange(path) || named.some((each) => within(join(real, path), each) && isOpenedChange(relative(real, each)))) return false
    const [, git] = /^((?:.*\/)?\.git)\/(?:config|info\/exclude|hooks(?:\/[^/]+\.sample)?|info|branches)$/.exec(path) ?? []
    return git === undefined || existsSync(join(real, git))
  })
