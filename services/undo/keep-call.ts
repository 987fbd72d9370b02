import type { Clock } from '../lib/clock.ts'
import { newId } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import { undoFileKey, undoEntryKey, undoOpenKey, undoOwnerKey, undoWorkKey, type Op, type Store } from '../store/index.ts'
import type { CallLeft, CallReport, KeepCall, KeptCall, PathPolicy } from '../tools/index.ts'
import { type ChainUnit, createCommandFiles, type Item, type Snapshots, takePaths, type UndoSpace } from '../workspace/index.ts'
import type { AcquirePaths, RunningCommands } from './running-calls.ts'
import { settleEntry } from './settle-entry.ts'
import type { Entry } from './undo-entry.ts'

/** The collaborators that the functions of undo share. */
export interface KeepParts {
  store: Store
  clock: Clock
  /** The folder with the copies of previous contents. */
  folder: string
  paths: PathPolicy
  acquire: AcquirePaths
  space: UndoSpace
  snapshots: Snapshots
  commands: RunningCommands
  log: Pick<Log, 'warn'>
}

/** The state before a call; it is on disk, but no record names it yet. The paths of the call are locked until `finish` or `discard`. */
export interface Kept extends KeptCall {
  id: string
  items: readonly Item[]
  contents?: Entry['contents']
  /** Records what the call changed; `isCut` for an undo or an apply that did not complete. */
  finish(report?: CallReport, isCut?: boolean): Promise<CallLeft>
}

/** Options of `keepCall` beside the call. */
interface KeepOptions {
  /** True if the caller has locked the paths already. */
  isLocked?: boolean
  /** For an undo or an apply: the run whose changes it undoes or applies. Until `finish`, the entry counts as interrupted. */
  of?: string
  /** The units (git directories and databases) that paths belong to, as far as they are known. */
  units?: ReadonlyMap<string, ChainUnit | undefined>
}

/** The state before a call: its part of the entry, and its file of copies. */
interface Taken {
  entry: Pick<Entry, 'items' | 'units' | 'contents' | 'tree'>
  /** The key of the record that names the file of copies. */
  fileKey?: string
  /** Paths that other calls of the service change while a command runs. */
  others?: ReadonlySet<string>
  release(): void
  discard(): Promise<void>
}

/**
 * Keeps durably what a call is about to change: the content of its paths or, for a command, of its folder. Waits while another call changes
 * one of the paths. Throws CopiesUnavailable if the disk is full, and PathRefused for a path that must not be used. Then the call must not
 * start.
 */
export async function keepCall (call: KeepCall, parts: KeepParts, options: KeepOptions = {}): Promise<Kept> {
  const { runId, owner, toolCallId, toolName, places, command, uncovered } = call
  const { of } = options
  const id = newId()
  const at = parts.clock.now()
  const named: Op[] = [{ type: 'put', key: undoOwnerKey(owner, runId), value: { at } }]
  if (of !== undefined) named.push({ type: 'put', key: undoWorkKey(of, runId), value: { at } })
  const roots = places?.map(({ path }) => path) ?? []
  const cwd = command?.folder ?? call.cwd
  const entry: Entry = { id, runId, owner, toolCallId, toolName, at, cwd, roots, items: [], ...of !== undefined && { of, isCut: true } }
  const { taken, reason } = command === undefined ? await takeCall(id, call, parts, options) : await takeCommand(call, command, parts)
  if (places === undefined && reason !== '') entry.uncovered = { ...uncovered, reason }
  if (taken === undefined) {
    const op: Op = { type: 'put', key: undoEntryKey(runId, id), value: { ...entry, ended: true } }
    return { id, items: [], ops: [...named, op], finish: async () => ({ ops: [] }), discard: async () => {} }
  }
  return keptOf(id, { ...entry, ...taken.entry }, { ...call, taken, named }, parts)
}

function keptOf (
  id: string,
  begun: Entry,
  { runId, places, command, taken, named }: KeepCall & { taken: Taken, named: Op[] },
  { store, paths, snapshots, commands, log }: KeepParts
): Kept {
  const key = undoEntryKey(runId, id)
  const open = undoOpenKey(id)
  const { fileKey, others } = taken
  let isShared = false

  async function finish (report?: CallReport, isCut = false): Promise<CallLeft> {
    try {
      const settled = await settleEntry(begun, { places, report, others, isShared }, { paths, snapshots })
      taken.release()
      commands.changed((settled?.items ?? []).map(({ path }) => path))
      const closed: Op[] = [{ type: 'del', key: open }]
      if (settled === undefined) {
        await taken.discard()
        if (fileKey !== undefined) closed.push({ type: 'del', key: fileKey })
      }
      const last: Op = settled === undefined ? { type: 'del', key } : { type: 'put', key, value: { ...settled, isCut: isCut || undefined } }
      if (command === undefined) return { ops: [last, ...closed] }
      const changes = changesIn(settled?.items ?? [])
      const ops = [last, ...closed, ...await createCommandFiles(store).written(changes, begun.at)]
      return { ops, ...((settled === undefined || changes.length > 0) && { changes }) }
    } catch (error) {
      // The entry stays open: the changes of the call are compared again at the next start.
      log.warn({ err: error }, 'what a call changed could not be compared')
      return { ops: [] }
    } finally {
      taken.release()
    }
  }

  async function finishLater (ended: Promise<void>): Promise<void> {
    isShared = true
    await ended
    const { ops } = await finish()
    // True if the entry was deleted with its conversation meanwhile.
    const isGone = await store.get(key) === undefined
    if (ops.length > 0) await store.transact(isGone ? [{ type: 'del', key: open }] : ops)
  }

  const file: Op[] = fileKey === undefined ? [] : [{ type: 'put', key: fileKey, value: true }]
  return {
    id,
    items: begun.items,
    contents: begun.contents,
    ops: [...named, { type: 'put', key, value: begun }, { type: 'put', key: open, value: { runId } }, ...file],
    finish,
    finishAfter: (ended) => commands.stay(runId, finishLater(ended).catch((error) =>
      log.warn({ err: error }, 'what a command changed could not be stored'))),
    discard: taken.discard
  }
}

/** Locks the paths of a call, and copies what is there. Returns an empty object if the paths of the call are not known. */
async function takeCall (
  id: string,
  { places, signal }: KeepCall,
  { folder, paths, acquire, space }: KeepParts,
  { isLocked = false, units: known }: KeepOptions
): Promise<{ taken?: Taken, reason?: string }> {
  if (places === undefined) return {}
  const unlock = isLocked ? () => {} : await acquire(places.map(({ path }) => path), signal)
  try {
    const { items, units, contents, bytes, ...snapshot } = await takePaths(places, { folder, id, paths, space, signal, units: known })
    const release = () => {
      snapshot.release()
      unlock()
    }
    const discard = () => snapshot.discard().finally(unlock)
    return { taken: { entry: { items, units, contents }, fileKey: bytes > 0 ? undoFileKey(id, bytes) : undefined, release, discard } }
  } catch (error) {
    unlock()
    throw error
  }
}

/** Records the folder of a command. `reason` says in sentences which changes of the command cannot be known. */
async function takeCommand (
  { uncovered, signal }: KeepCall,
  { reach, ...place }: NonNullable<KeepCall['command']>,
  { snapshots, commands }: KeepParts
): Promise<{ taken?: Taken, reason: string }> {
  const known = await snapshots.take(place, signal)
  const reason = [reach, 'why' in known ? known.why : known.leftOut].filter(Boolean).join(' ')
  if ('why' in known) return { reason }
  const { others, end } = commands.begin(place.folder)
  const release = () => {
    end()
    known.release()
  }
  const tree = { records: known.records, target: uncovered?.target }
  return { taken: { entry: { items: [], tree }, others, release, discard: async () => release() }, reason }
}

const digestOf = (place: Item['after']): string | null => place?.kind === 'file' ? place.digest : null

/** Returns the changes of files among the items. */
const changesIn = (items: readonly Item[]) =>
  items.filter(({ before, after }) => before?.kind === 'file' || after?.kind === 'file').map(({ path, before, after }) =>
    ({ path, before: digestOf(before), after: digestOf(after) })
  )
