import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, realpath, rename, rm, stat } from 'node:fs/promises'
import { basename, join, parse, relative, sep } from 'node:path'
import type { Applied, UndoBody } from '../../schemas/undo.ts'
import type { Clock } from '../lib/clock.ts'
import { describeDiskFailure } from '../lib/disk-failure.ts'
import { onceFree, writeAtomically } from '../lib/file-system.ts'
import { isId, newId } from '../lib/ids.ts'
import { isOpenedChange } from '../lib/obeyed-names.ts'
import { createKeyedLock } from '../lib/keyed-lock.ts'
import type { Log } from '../lib/log.ts'
import { defineError, ServiceError } from '../lib/service-error.ts'
import { COPIES, copyKey, type Store } from '../store/index.ts'
import { type CopiedFolder, type PathPolicy, type Transform, within } from '../tools/index.ts'
import type { Undo } from '../undo/index.ts'
import { type Difference, differencesOf, refreshClone, rowAt, type States } from '../workspace/index.ts'

/** A copy that no run used for this long is deleted, milliseconds. */
const KEPT_MS = 7 * 24 * 3_600_000
/** Copies at once. */
const MAX_COPIES = 32
/** What is copied where the file system does not clone files. */
const LIMITS = { paths: 20_000, bytes: 1024 ** 3 }
/** How long a copy and a comparison may take, milliseconds. */
const COPY_MS = 300_000
const BASE = 'base.json'

const Refused = defineError('ERR_COPY_REFUSED', 'No copy of the folder can be made: %s.')
const RunLive = defineError(
  'ERR_RUN_LIVE',
  'The run "%s" is not over. Stop it, or answer what it waits for, before its changes are taken over.'
)
const RunUnknown = defineError('ERR_RUN_NOT_FOUND', 'No run "%s" of a conversation is known.')
const NothingToApply = defineError(
  'ERR_COPY_REFUSED',
  'The run "%s" is a rehearsal: what it did in its copy is not taken over. Accept lines of its sheet (POST /grants), and let it run.'
)
const NotACopy = defineError('ERR_COPY_REFUSED', 'The run "%s" does not work on a copy, or its copy is not kept any more.')

const FolderGone = defineError(
  'ERR_COPY_REFUSED',
  'The folder "%s" is not there any more, and nothing was changed. The copy is kept: put the folder back, and send the request again.'
)

/** Begins the name of the owner of a rehearsal's copy. It is of no use any more when the service ends. */
const REHEARSAL = 'rehearsal-'

/** A copy of a folder for a conversation, or for a rehearsal. */
interface CopyRecord {
  /** Digest of the conversation, or REHEARSAL and the run. */
  thread: string
  /** Real path of the folder. */
  real: string
  /** When a run used it last, milliseconds since the Unix epoch. */
  usedAt: number
}

/** How the paths were when they were copied, or taken over last. */
interface Base {
  sources: States
  copies: States
}

interface Known extends CopyRecord {
  id: string
  /** Real path of the copy. */
  folder: string
}

interface CopyParts {
  store: Store
  clock: Clock
  /** The folder in which the copies are, each in a folder of its own. */
  root: string
  /** The folder of configuration and data of the service. */
  ownHome: string
  /** The homes of users, of which no copy is made. */
  homes: string[]
  transform: Transform
  paths: PathPolicy
  undo: Pick<Undo, 'takeOver'>
  log: Pick<Log, 'warn'>
  /** Ends the commands of a rehearsal that still run, and resolves when their changes are stored: these are read in the copy. */
  endCommands: (runId: string) => Promise<void>
  /** Returns where a run of a conversation, or a rehearsal, works, and whether it is not over; undefined for any other. */
  placeOf: (runId: string) => Promise<{ cwd: string, isLive: boolean, isRehearsal: boolean } | undefined>
}

export type Copies = ReturnType<typeof createCopies>

/**
 * Copies of folders in which runs work, so that a person decides afterwards what of their changes is taken over. Models and people are
 * shown the paths of the folder itself.
 */
export function createCopies ({ store, clock, root, ownHome, homes, transform, paths, undo, log, endCommands, placeOf }: CopyParts) {
  const known = new Map<string, Known>()
  const locked = createKeyedLock()
  const { signal } = new AbortController()
  /** The real path of `root`, once it is there. */
  let place = root

  const knownAt = (path: string): Known | undefined =>
    path.startsWith(place + sep) ? known.get(relative(place, path).split(sep)[0]) : undefined

  /** Returns the copy that a folder is, or lies in. */
  const copyAt = (folder: string): CopiedFolder | undefined => {
    const found = knownAt(folder)
    return found !== undefined && within(folder, found.folder) ? { folder: found.folder, real: found.real } : undefined
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

  /** `from` is what is copied: the folder, or a copy of it. */
  async function make (thread: string, real: string, from = real): Promise<Known> {
    if (within(ownHome, real) || within(place, real)) throw new Refused('it holds the data of the service')
    const isHome = real === parse(real).root || homes.some((home) => within(home, real))
    if (isHome) throw new Refused('it is a home, or holds one. Work in a folder of it')
    if (known.size >= MAX_COPIES) await removeOld()
    if (known.size >= MAX_COPIES) throw new Refused(`there are ${MAX_COPIES} already. Delete a conversation that has one`)
    await mkdir(root, { recursive: true, mode: 0o700 })
    place = await realpath(root)
    const id = newId()
    const draft = join(place, `${id}.partial`)
    try {
      await mkdir(draft, { mode: 0o700 })
      const name = basename(real)
      const made = await transform.run('cloneFolder', { from, to: join(draft, name), limits: LIMITS }, { signal, ms: COPY_MS })
      if ('beyond' in made) {
        throw new Refused(made.beyond === 'paths'
          ? `it has more than ${LIMITS.paths} files and folders`
          : `its files have more than ${LIMITS.bytes / 1024 ** 2} MiB, and its file system does not clone files`)
      }
      if (made.left.length > 0) log.warn({ folder: real, left: made.left }, 'a copy of a folder leaves out some of its files')
      await writeBase(draft, { sources: made.sources, copies: made.copies })
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

  /** Returns what is in a folder, or in a copy; undefined where there are too many paths. */
  const survey = (folder: string): Promise<States | undefined> =>
    transform.run('listFolder', { folder, mostPaths: LIMITS.paths * 10 }, { signal, ms: COPY_MS })

  /** Brings what was changed in the folder meanwhile into its copy, as an apply the other way. Throws Refused (409) on a full disk. */
  async function refresh (copy: Known): Promise<void> {
    const { id, folder, real } = copy
    const base = await readBase(id)
    try {
      const now = await survey(real)
      const differences = now === undefined ? [] : differencesOf(base.sources, now, { folder, was: base.copies })
      const sizes = new Map(now)
      const bytes = differences.reduce((sum, { path }) => sum + (sizes.get(path)?.size ?? 0), 0)
      if (now === undefined || bytes > LIMITS.bytes) {
        return log.warn({ folder: real }, 'a copy stays behind its folder, as too much was changed')
      }
      const { brought, failed } = await refreshClone(differences, { from: real, to: folder, drafts: join(place, id), paths, clock })
      for (const { path, error } of failed) log.warn({ err: error, path }, 'a change of a folder could not be brought into its copy')
      await settle(copy, base, brought.map((path) => join(real, relative(folder, path))), { now })
    } catch (error) {
      throw refusalOf(error)
    }
  }

  const readBase = async (id: string): Promise<Base> => JSON.parse(await readFile(join(place, id, BASE), 'utf8'))

  /** Deletes what no run used for long. */
  async function removeOld (): Promise<void> {
    for (const copy of known.values()) if (copy.usedAt < clock.now() - KEPT_MS) await remove(copy)
  }

  /** The same, and folders that no record names. */
  async function sweep (): Promise<void> {
    await removeOld()
    for (const name of await readdir(place).catch(() => [])) {
      if (!known.has(name)) await rm(join(place, name), { recursive: true, force: true })
    }
  }

  return {
    copyAt,

    /** Whether a path belongs to copies, but not to the one that `cwd` is in. */
    isForeign: (path: string, cwd: string): boolean => {
      const copy = copyAt(cwd)
      return within(path, place) && (copy === undefined || !within(path, copy.folder))
    },

    /** Reads which copies there are, and deletes what is left of others. */
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
     * Returns the real path of the conversation's copy of a folder, which is made when there is none; else it gets what was changed in the
     * folder meanwhile. Throws Refused (409).
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

    /** Deletes the copy of a rehearsal, of which no command goes on then. */
    async removeOwn (runId: string): Promise<void> {
      try {
        await endCommands(runId)
        await removeOf(REHEARSAL + runId)
      } catch (error) {
        log.warn({ err: error, runId }, 'the copy of a rehearsal could not be deleted')
      }
    },

    /** Returns the real path of the conversation's copy of a folder; undefined when there is none. */
    async find (thread: string, folder: string): Promise<string | undefined> {
      const real = await realpath(folder).catch(() => undefined)
      return real === undefined ? undefined : ofThread(thread, real)?.folder
    },

    /**
     * Makes the folder as the copy of a run is, where the copy was changed: all paths, or some. What somebody changed in the folder
     * meanwhile stays. What it replaces is kept under `applyId`, like the changes of a run. Throws RunUnknown (404), NotACopy,
     * NothingToApply, FolderGone and RunLive (409), NotChanged (400) and CopiesUnavailable (503).
     */
    async apply (runId: string, body: UndoBody): Promise<Applied> {
      const run = isId(runId) ? await placeOf(runId) : undefined
      if (run === undefined) throw new RunUnknown(runId)
      if (run.isRehearsal) throw new NothingToApply(runId)
      const copy = knownAt(run.cwd)
      if (copy === undefined) throw new NotACopy(runId)
      if (run.isLive) throw new RunLive(runId)
      return locked(copy.thread, async () => {
        const { id, folder, real } = copy
        // It went with its conversation meanwhile.
        if (!known.has(id)) throw new NotACopy(runId)
        if (!await isFolder(real)) throw new FolderGone(real)
        const base = await readBase(id)
        const now = await survey(folder)
        if (now === undefined) throw new Refused(`the copy has more than ${LIMITS.paths * 10} files and folders by now`)
        const differences = differencesOf(base.copies, now, { folder: real, was: base.sources })
        const named = body.paths?.map((path) => within(path, folder) ? join(real, relative(folder, path)) : path)
        const opened = await findOpened(differences, { real, named })
        const others = differences.filter(({ path }) => !opened.includes(path))
        const { done, skipped, ...rest } = await undo.takeOver(others, { ...body, ...named && { paths: named } }, {
          of: runId,
          folder,
          real,
          owner: copy.thread
        })
        if (!body.dryRun) await settle(copy, base, done)
        const unnamed = opened.map((path) => ({ path: join(real, path), reason: 'opens' as const }))
        return { applied: done, skipped: [...skipped, ...unnamed], ...rest }
      })
    },

    /** Notes that these paths of the folder, which were taken over, are as before again: they can be taken over once more. */
    takenBack: (thread: string, paths: readonly string[]): Promise<void> =>
      locked(thread, async () => {
        for (const copy of known.values()) {
          const own = paths.filter((path) => copy.thread === thread && within(path, copy.real))
          if (own.length > 0) await settle(copy, await readBase(copy.id), own, { isTakenBack: true })
        }
      }),

    /** Deletes the copies of a conversation. */
    removeOf,

    /** Returns the value with the paths of the folder in the place of those of its copy. */
    shown<T> (value: T): T {
      if (known.size === 0 || value === undefined) return value
      const text = JSON.stringify(value)
      if (!text.includes(JSON.stringify(place).slice(1, -1))) return value
      let shown = text
      for (const { folder, real } of known.values()) {
        // As a function: in a text, "$&" and the like would not stay what they are.
        shown = shown.replaceAll(JSON.stringify(folder).slice(1, -1), () => JSON.stringify(real).slice(1, -1))
      }
      return JSON.parse(shown)
    }
  }

  /**
   * Records that these paths of the folder are as in the copy; of what was taken back, that the copy differs from what they are. `now`:
   * what was in the folder; a change since then is found the next time.
   */
  async function settle (
    { id, folder, real }: Known,
    base: Base,
    paths: readonly string[],
    { isTakenBack = false, now }: { isTakenBack?: boolean, now?: States } = {}
  ): Promise<void> {
    if (paths.length === 0) return
    const [sources, copies, found] = [new Map(base.sources), new Map(base.copies), new Map(now)]
    for (const path of paths) {
      const inner = relative(real, path)
      const source = now === undefined ? rowAt(path) : found.get(inner)
      for (const [states, row] of [[sources, source], [copies, isTakenBack ? source : rowAt(join(folder, inner))]] as const) {
        if (row === undefined) states.delete(inner)
        else states.set(inner, row)
      }
    }
    await writeBase(join(place, id), { sources: [...sources], copies: [...copies] })
  }
}

const isFolder = (path: string): Promise<boolean> => stat(path).then((found) => found.isDirectory(), () => false)

/** Returns the real path of a folder. Throws Refused (409) when there is none. */
async function realFolder (folder: string): Promise<string> {
  if (!await isFolder(folder)) throw new Refused(`there is no folder "${folder}". Put it back, or work in another one`)
  return realpath(folder)
}

/** Returns what a caller is told when a copy cannot be made. */
function refusalOf (error: unknown): unknown {
  const failure = error instanceof ServiceError && error.code === 'ERR_COPY_REFUSED' ? undefined : describeDiskFailure(error)
  return failure === undefined ? error : new Refused(`${failure}. Make room on the disk of the configuration folder and try again`)
}

async function writeBase (folder: string, base: Base): Promise<void> {
  await writeAtomically(join(folder, BASE), JSON.stringify(base))
}

/**
 * Returns the changes of a copy, relative to its folder, that are taken over only where they are named: what programs obey as soon as
 * somebody opens the folder. A repository that the folder does not have is taken over with its settings, without its hooks.
 */
async function findOpened (
  differences: readonly Difference[],
  { real, named = [] }: { real: string, named?: readonly string[] }
): Promise<string[]> {
  const opened: string[] = []
  for (const { path } of differences) {
    if (!isOpenedChange(path) || named.some((each) => within(join(real, path), each) && isOpenedChange(relative(real, each)))) continue
    const [, git] = /^((?:.*\/)?\.git)\/(?:config|info\/exclude|hooks(?:\/[^/]+\.sample)?|info|branches)$/.exec(path) ?? []
    if (git === undefined || existsSync(join(real, git))) opened.push(path)
  }
  return opened
}
