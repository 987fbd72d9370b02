import { relative } from 'node:path'
import type { Log } from '../lib/log.ts'
import type { Config } from '../../schemas/config.ts'
import type { RunChanges, UndoBody, Undone } from '../../schemas/undo.ts'
import type { Clock } from '../lib/clock.ts'
import { isId, timeOfId } from '../lib/ids.ts'
import { createKeyedLock } from '../lib/keyed-lock.ts'
import { UNDO_OPEN, undoEntryKey, undoFilesPrefix, type Op, type Store } from '../store/index.ts'
import { keepCall, type Kept, createPathLock } from './keep-call.ts'
import { keepTree, settledTree } from './keep-tree.ts'
import { type AsLeft, type FileTexts, pathsAsLeft, runChanges, runTexts } from './run-changes.ts'
import { createRunningCommands } from './running-commands.ts'
import { continueUndo, takeOver, undoRun } from './undo-run.ts'
import { followUps, readEntries, worksOn } from './works.ts'
import { type KeepCall, type PathPolicy, searchScope, type Transform } from '../tools/index.ts'
import {
  chainsOfCopy,
  type CommandPlace,
  createSnapshots,
  createUndoSpace,
  diffPaths,
  type Difference,
  removeTemporaries
} from '../workspace/index.ts'
import { putBackAside, removeUnfinished } from './interrupted-calls.ts'
import { APPLY, UNDO, CommandRuns, type Entry, NothingHappened, RunLive, RunUnknown } from './undo-entry.ts'

/** The collaborators of undo. */
export interface UndoParts {
  store: Store
  clock: Clock
  /** The configuration directory; the copies lie in its folder `undo`. */
  home: string
  paths: PathPolicy
  settings: () => Config['undo']
  /** Whether a run, of a conversation or a task, is not over: undefined when it is not known. */
  isLive: (runId: string) => Promise<boolean | undefined>
  /** Notes that these paths of a folder, which were taken over from a copy of that owner, are as before again. */
  takenBack: (owner: string, paths: readonly string[]) => Promise<void>
  /** Returns the copy of a folder that an owner works on, if it is kept. */
  copyOf: (owner: string, folder: string) => Promise<string | undefined>
  /** Whether a run is a rehearsal. */
  isRehearsal: (runId: string) => Promise<boolean>
  log: Pick<Log, 'warn'>
  /** The thread that knows folders and compares them. */
  transform: Transform
}

/** The verbs of `createUndo`, once it is in use. */
export function openUndo (
  { store, clock, paths, settings, isLive, isRehearsal, takenBack, copyOf, log, transform, folder }: UndoParts & { folder: string }
) {
  const space = createUndoSpace({ store, clock, folder, settings })
  const snapshots = createSnapshots({ store, lookAround: (place) => searchScope(place, place, paths), folder, space, worker: transform })
  const commands = createRunningCommands()
  const parts = { store, clock, folder, paths, space, commands, log, acquire: createPathLock() }
  const locked = createKeyedLock()
  let completed: Promise<void> | undefined

  /** Reads the entries of a run, oldest first. Throws RunUnknown. */
  async function entriesOf (runId: string): Promise<Array<[string, Entry]>> {
    if (!isId(runId)) throw new RunUnknown(runId)
    const entries = await readEntries(store, runId)
    if (entries.length === 0 && await isLive(runId) === undefined) throw new RunUnknown(runId)
    return entries
  }

  async function completedCall (id: string, entry: Entry): Promise<Entry | undefined> {
    if (entry.toolName === UNDO || entry.toolName === APPLY) await removeTemporaries(id, entry.items)
    else {
      await putBackAside(entry, timeOfId(id), paths)
      await removeUnfinished(entry, timeOfId(id), { paths, clock })
    }
    const { items, units } = await diffPaths(entry, { places: entry.roots.map((path) => ({ path, withContents: true })), paths })
    return items.length > 0 ? { ...entry, items, units, ended: true } : undefined
  }

  async function completedTree (entry: Entry, tree: NonNullable<Entry['tree']>): Promise<Entry | undefined> {
    try {
      return settledTree(entry, await snapshots.diff(tree), { isLate: true })
    } catch (error) {
      log.warn({ err: error }, 'what a command changed could not be compared')
      const { tree: _, ...rest } = entry
      const reason = 'What it changed could not be found out after the service had ended.'
      return { ...rest, ended: true, uncovered: { ...entry.uncovered, reason } }
    }
  }

  /** Does what is left of an undo or an apply that the end of the service cut off, at the paths that it was to change. */
  async function finishWork ({ of, toolName, owner, cwd, items }: Entry): Promise<void> {
    const named = items.filter(({ isParent }) => !isParent)
    if (of === undefined) return
    if (toolName === UNDO) return continueUndo(of, await readEntries(store, of), new Set(named.map(({ path }) => path)), parts)
    const copy = await copyOf(owner, cwd)
    if (copy === undefined) return
    const left = named.map(({ path, before }) => ({ path: relative(cwd, path), isOtherAsItWas: true, expected: before }))
    const chains = await chainsOfCopy(left, { from: copy, to: cwd, paths })
    // Nothing is removed because the copy was just being deleted: it is unknown then.
    if (await copyOf(owner, cwd) === copy) await takeOver(chains, {}, { of, owner, cwd }, parts)
  }

  /** Completes the entries of calls that the end of the service cut off: what they left is what is there at the next start. */
  async function complete (): Promise<void> {
    const works = new Map<string, Entry>()
    for await (const [key, { runId }] of store.list<{ runId: string }>(UNDO_OPEN, { damaged () {} })) {
      const id = key.slice(UNDO_OPEN.length)
      const ops: Op[] = [{ type: 'del', key }]
      const entry = await store.get<Entry>(undoEntryKey(runId, id)).catch(() => undefined)
      if (entry !== undefined) {
        const settled = entry.tree === undefined ? await completedCall(id, entry) : await completedTree(entry, entry.tree)
        if (entry.toolName === UNDO || entry.toolName === APPLY) works.set(runId, entry)
        if (settled !== undefined) ops.push({ type: 'put', key: undoEntryKey(runId, id), value: settled })
        else {
          ops.push({ type: 'del', key: undoEntryKey(runId, id) })
          for await (const file of store.keys(undoFilesPrefix(id))) ops.push({ type: 'del', key: file })
        }
      }
      await store.transact(ops)
    }
    for (const entry of works.values()) {
      await finishWork(entry).catch((error) => log.warn({ err: error }, 'an undo or an apply that was cut off could not be finished'))
    }
  }

  /** Resolves when what the last end of the service cut off is completed; a failure is tried again. */
  const ready = () => {
    completed ??= complete().catch((error) => {
      completed = undefined
      throw error
    })
    return completed
  }

  return {
    async keep (call: KeepCall): Promise<Kept> {
      await ready()
      return call.command === undefined
        ? keepCall(call, parts)
        : keepTree({ ...call, command: call.command }, { store, clock, snapshots, commands, log })
    },

    outlook: (place: CommandPlace, signal: AbortSignal): Promise<string> => snapshots.outlook(place, signal),

    async changes (runId: string, page: { limit: number, cursor?: string }): Promise<RunChanges> {
      await ready()
      const found = await runChanges(await entriesOf(runId), page, parts)
      return { ...found, followUps: followUps(await worksOn(store, runId)) }
    },

    async texts (runId: string): Promise<FileTexts[]> {
      await ready()
      return runTexts(await entriesOf(runId), parts)
    },

    async asLeft (runId: string, among: readonly string[]): Promise<AsLeft> {
      await ready()
      const entries = await entriesOf(runId).catch((error): Array<[string, Entry]> => {
        if (error instanceof RunUnknown) return []
        throw error
      })
      return pathsAsLeft(entries, among, parts)
    },

    takeBack: (runId: string, options: UndoBody): Promise<Undone> =>
      locked(runId, async () => {
        await ready()
        const entries = await entriesOf(runId)
        if (await isLive(runId)) throw new RunLive(runId)
        if (await isRehearsal(runId)) throw new NothingHappened(runId)
        if (commands.stays(runId)) throw new CommandRuns(runId)
        const undone = await undoRun(runId, entries, options, parts)
        const { owner, toolName } = entries.at(-1)?.[1] ?? {}
        if (!options.dryRun && toolName === APPLY) await takenBack(owner!, undone.restored)
        return undone
      }),

    async takeOver (
      differences: readonly Difference[],
      body: UndoBody,
      { of, folder: copy, real, owner }: { of: string, folder: string, real: string, owner: string }
    ) {
      await ready()
      const { id, ...done } = await takeOver(
        await chainsOfCopy(differences, { from: copy, to: real, paths }),
        body,
        { of, owner, cwd: real },
        parts
      )
      return { ...done, ...id !== undefined && { applyId: id } }
    },

    /** Resolves when the changes of commands that have ended are stored. */
    settled: () => commands.settled(),

    /** Resolves when the changes of commands of the run that go on now are stored. */
    settledOf: (runId: string) => commands.settledOf(runId),

    async sweep (signal?: AbortSignal): Promise<void> {
      await ready()
      await space.sweep(signal)
    }
  }
}
