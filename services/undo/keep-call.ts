import { newId } from '../lib/ids.ts'
import { undoFileKey, undoEntryKey, undoOpenKey, undoOwnerKey, undoWorkKey, type Op } from '../store/index.ts'
import type { CallLeft, CallReport, KeepCall, KeptCall } from '../tools/index.ts'
import { createCommandFiles, type Item, takePaths, type Unit } from '../workspace/index.ts'
import { endEntry } from './settle-entry.ts'
import type { RunningCommand } from './running-calls.ts'
import type { Entry, KeepParts } from './undo-entry.ts'

/** The state before a call; it is on disk, but no record names it yet. The paths of the call are locked until `finish` or `discard`. */
export interface Kept extends KeptCall, Pick<Entry, 'items' | 'contents'> {
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
  units?: ReadonlyMap<string, Unit | undefined>
}

/** The state before a call: its part of the entry, and its file of copies. */
interface Taken {
  entry: Pick<Entry, 'items' | 'units' | 'contents' | 'tree'>
  /** The record that names the file of copies. */
  file?: Op[]
  /** The command, until `release`. */
  running?: RunningCommand
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
    return { items: [], ops: [...named, op], finish: async () => ({ ops: [] }), discard: async () => {} }
  }
  return keptOf({ ...entry, ...taken.entry }, { ...call, taken, named }, parts)
}

function keptOf (begun: Entry, { places, command, taken, named }: KeepCall & { taken: Taken, named: Op[] }, parts: KeepParts): Kept {
  const { store, commands, log } = parts
  const { id, runId, items, contents } = begun
  const key = undoEntryKey(runId, id)
  const open = undoOpenKey(id)
  const { running } = taken

  async function finish (report?: CallReport, isCut = false): Promise<CallLeft> {
    try {
      const { ended, ops } = await endEntry(begun, { places, report, running, isCut }, parts)
      taken.release()
      // What two commands share counts for both.
      if (!running?.isShared || running.stays) commands.changed((ended?.items ?? []).map(({ path }) => path))
      if (ended === undefined) await taken.discard()
      if (command === undefined) return { ops }
      const changes = changesIn(ended?.items ?? [])
      ops.push(...await createCommandFiles(store).written(changes, begun.at))
      return { ops, ...(ended === undefined || changes.length > 0) && { changes } }
    } catch (error) {
      // The entry stays open: the changes of the call are compared again at the next start.
      log.warn({ err: error }, 'what a call changed could not be compared')
      return { ops: [] }
    } finally {
      taken.release()
    }
  }

  async function finishLater (ended: Promise<void>): Promise<void> {
    if (running !== undefined) running.isShared = running.stays = true
    await ended
    const { ops } = await finish()
    // True if the entry was deleted with its conversation meanwhile.
    const isGone = await store.get(key) === undefined
    if (ops.length > 0) await store.transact(isGone ? [{ type: 'del', key: open }] : ops)
  }

  return {
    items,
    contents,
    ops: [...named, { type: 'put', key, value: begun }, { type: 'put', key: open, value: { runId } }, ...taken.file ?? []],
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
    const file: Op[] = bytes > 0 ? [{ type: 'put', key: undoFileKey(id, bytes), value: true }] : []
    return { taken: { entry: { items, units, contents }, file, release, discard } }
  } catch (error) {
    unlock()
    throw error
  }
}

/** Records the folder of a command. `reason` says in sentences which changes of the command cannot be known. */
async function takeCommand (
  { runId, uncovered, signal }: KeepCall,
  { reach, ...place }: NonNullable<KeepCall['command']>,
  { snapshots, commands }: KeepParts
): Promise<{ taken?: Taken, reason: string }> {
  const known = await snapshots.take(place, signal)
  const reason = [reach, 'why' in known ? known.why : known.leftOut].filter(Boolean).join(' ')
  if ('why' in known) return { reason }
  const running = commands.begin(place.folder, runId)
  const release = () => {
    commands.end(running)
    known.release()
  }
  const tree = { records: known.records, target: uncovered?.target }
  return { taken: { entry: { items: [], tree }, running, release, discard: async () => release() }, reason }
}

const digestOf = (place: Item['after']): string | null => place?.kind === 'file' ? place.digest : null

/** Returns the changes of files among the items. */
const changesIn = (items: readonly Item[]) =>
  items.filter(({ before, after }) => before?.kind === 'file' || after?.kind === 'file').map(({ path, before, after }) =>
    ({ path, before: digestOf(before), after: digestOf(after) })
  )
