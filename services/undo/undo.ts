import { join } from 'node:path'
import type { Config } from '../../schemas/config.ts'
import type { ReplacedChanges, RunChanges, UndoBody, Undone } from '../../schemas/undo.ts'
import type { Clock } from '../lib/clock.ts'
import { isId } from '../lib/ids.ts'
import { createKeyedLock } from '../lib/keyed-lock.ts'
import type { Log } from '../lib/log.ts'
import { undoFilesPrefix, undoOwnerPrefix, undoEntriesPrefix, undoWorksPrefix, type Op, type Store } from '../store/index.ts'
import { type KeepCall, type PathPolicy, searchScope, type Transform } from '../tools/index.ts'
import { chainsOfCopy, type CommandPlace, createSnapshots, createUndoSpace, type Difference } from '../workspace/index.ts'
import { completeInterrupted, type FindCopy } from './interrupted-calls.ts'
import { keepCall, type Kept } from './keep-call.ts'
import { type AsLeft, type FileTexts, pathsAsLeft, runChanges, runTexts } from './run-changes.ts'
import { createPathLock, createRunningCommands } from './running-calls.ts'
import { APPLY, CommandRuns, type Entry, type KeepParts, NothingHappened, RunLive, RunUnknown } from './undo-entry.ts'
import { takeOver, undoRun } from './undo-run.ts'
import { undoRuns, type UndoRunsOptions } from './undo-runs.ts'
import { followUps, readEntries, worksOn } from './works.ts'

export type Undo = ReturnType<typeof createUndo>

/** The collaborators of undo. */
interface UndoParts {
  store: Store
  clock: Clock
  /** The configuration directory; the copies are in its folder `undo`. */
  home: string
  paths: PathPolicy
  settings: () => Config['undo']
  /** Returns whether a run of a conversation or a task has not ended; undefined if it is not known. */
  isLive: (runId: string) => Promise<boolean | undefined>
  /** Records that an apply of these paths of a folder was undone; `owner` has the copy. */
  takenBack: (owner: string, paths: readonly string[]) => Promise<void>
  copyOf: FindCopy
  /** Whether a run is a rehearsal. */
  isRehearsal: (runId: string) => Promise<boolean>
  log: Pick<Log, 'warn'>
  /** The worker thread that reads and compares folders. */
  transform: Transform
}

/** Creates the service that keeps what tools are about to change, so that the changes of a run can be listed and undone. */
export function createUndo (
  { store, clock, paths, settings, isLive, isRehearsal, takenBack, copyOf, log, transform, home }: UndoParts
) {
  const folder = join(home, 'undo')
  const space = createUndoSpace({ store, clock, folder, settings })
  const snapshots = createSnapshots({ store, lookAround: (place) => searchScope(place, place, paths), folder, space, worker: transform })
  const commands = createRunningCommands()
  const parts: KeepParts = { store, clock, folder, paths, space, snapshots, commands, log, acquire: createPathLock() }
  const locked = createKeyedLock()
  let completed: Promise<void> | undefined
  let isSweepQueued = false
  let sweeping: Promise<void> = Promise.resolve()

  /** Resolves when everything that the last end of the service interrupted is completed. If that fails, the next call tries again. */
  const ready = () => {
    completed ??= completeInterrupted(copyOf, parts).catch((error) => {
      completed = undefined
      throw error
    })
    return completed
  }

  /** Reads the entries of a run, oldest first. Throws RunUnknown (404). */
  async function entriesOf (runId: string): Promise<Entry[]> {
    await ready()
    if (!isId(runId)) throw new RunUnknown(runId)
    const entries = await readEntries(store, runId)
    if (entries.length === 0 && await isLive(runId) === undefined) throw new RunUnknown(runId)
    return entries
  }

  /** Throws CommandRuns (409) if a command of one of these runs still runs in the background. */
  function requireNoCommands (runIds: readonly string[]): void {
    const running = runIds.find(commands.stays)
    if (running !== undefined) throw new CommandRuns(running)
  }

  /**
   * Undoes the changes of a run, or of an undo. Throws RunUnknown (404), RunLive (409), NothingHappened (400), and what `undoRun` throws.
   */
  const takeBack = (runId: string, options: UndoBody): Promise<Undone> =>
    locked(runId, async () => {
      const entries = await entriesOf(runId)
      if (await isLive(runId)) throw new RunLive(runId)
      if (await isRehearsal(runId)) throw new NothingHappened(runId)
      requireNoCommands([runId])
      const undone = await undoRun(runId, entries, options, parts)
      const { owner, toolName } = entries.at(-1) ?? {}
      if (!options.dryRun && toolName === APPLY) await takenBack(owner!, undone.restored)
      return undone
    })

  /** Completes the entries of interrupted calls, and removes old entries and files without an entry. */
  async function sweep (signal?: AbortSignal): Promise<void> {
    await ready()
    await space.sweep(signal)
  }

  return {
    /** See `keepCall`. */
    async keep (call: KeepCall): Promise<Kept> {
      await ready()
      return keepCall(call, parts)
    },

    /** Returns sentences that say which changes in a folder could be undone after a command. */
    outlook: (place: CommandPlace, signal: AbortSignal): Promise<string> => snapshots.outlook(place, signal),

    /** Returns a page of the changes of a run or an undo, which can still be in progress. Throws RunUnknown (404). */
    async changes (runId: string, page: { limit: number, cursor?: string }): Promise<RunChanges> {
      const found = await runChanges(await entriesOf(runId), page, parts)
      return { ...found, followUps: followUps(await worksOn(store, runId)) }
    },

    /** Returns the texts of the files that a run changed, before and after it, as far as they are known. Throws RunUnknown (404). */
    texts: async (runId: string): Promise<FileTexts[]> => runTexts(await entriesOf(runId), parts),

    /** Returns which of these paths are still as a run left them. */
    async asLeft (runId: string, among: readonly string[]): Promise<AsLeft> {
      await ready()
      return pathsAsLeft(isId(runId) ? await readEntries(store, runId) : [], among, parts)
    },

    takeBack,
    requireNoCommands,

    /**
     * Undoes the changes of runs, the newest first, and the applies of their copies. Throws CommandRuns (409) before anything is changed,
     * and what `takeBack` throws. With `dryRun`, says what an undo would do, also of runs that are not over.
     */
    async takeBackAll (runIds: readonly string[], options: UndoRunsOptions): Promise<ReplacedChanges> {
      await ready()
      if (!options.dryRun) requireNoCommands(runIds)
      const ids: string[] = []
      for (const runId of runIds) {
        const applies = (await worksOn(store, runId)).filter(({ entries }) => entries[0].toolName === APPLY)
        ids.push(...applies.map(({ id }) => id).reverse(), runId)
      }
      const changing: string[] = []
      for (const id of ids) if ((await readEntries(store, id)).length > 0) changing.push(id)
      const undo = async (id: string) =>
        options.dryRun ? undoRun(id, await readEntries(store, id), { dryRun: true }, parts) : takeBack(id, {})
      return undoRuns(changing, undo, options)
    },

    /** Makes these paths of a folder equal to those of its copy. Throws NotChanged (400) and CopiesUnavailable (503). */
    async takeOver (
      differences: readonly Difference[],
      body: UndoBody,
      { of, folder: copy, real, owner }: { of: string, folder: string, real: string, owner: string }
    ) {
      await ready()
      const chains = await chainsOfCopy(differences, { from: copy, to: real, paths })
      const { id, ...done } = await takeOver(chains, body, { of, owner, cwd: real }, parts)
      return { ...done, ...id !== undefined && { applyId: id } }
    },

    /** Returns the operations that remove the records of a task, or of a thread by its digest. `sweep` then removes the files. */
    removal: (owner: string): Promise<Op[]> => removalOf(owner, store),

    sweepSoon (): void {
      if (isSweepQueued) return
      isSweepQueued = true
      sweeping = sweeping.then(() => {
        isSweepQueued = false
        return sweep()
      }).catch((error) => log.warn({ err: error }, 'what is kept for undo could not be cleaned up'))
    },

    /** Resolves when the changes of commands of the run that are running now are stored. */
    settled: (runId: string): Promise<void> => commands.settled(runId),

    /** Resolves when no work is in progress in the background. */
    async idle (): Promise<void> {
      await sweeping
      await commands.settled()
    },

    sweep
  }
}

async function removalOf (owner: string, store: Store): Promise<Op[]> {
  const ops: Op[] = []
  const prefix = undoOwnerPrefix(owner)
  for await (const key of store.keys(prefix)) {
    ops.push({ type: 'del', key })
    const runId = key.slice(prefix.length)
    for await (const work of store.keys(undoWorksPrefix(runId))) ops.push({ type: 'del', key: work })
    const entries = undoEntriesPrefix(runId)
    for await (const entry of store.keys(entries)) {
      ops.push({ type: 'del', key: entry })
      for await (const file of store.keys(undoFilesPrefix(entry.slice(entries.length)))) ops.push({ type: 'del', key: file })
    }
  }
  return ops
}
