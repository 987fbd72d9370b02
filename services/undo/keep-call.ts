import type { Clock } from '../lib/clock.ts'
import { newId } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import { undoFileKey, undoEntryKey, undoOpenKey, undoOwnerKey, undoWorkKey, type Op } from '../store/index.ts'
import { type CallLeft, type CallReport, within, type KeepCall, type KeptCall, type PathPolicy } from '../tools/index.ts'
import type { RunningCommands } from './running-commands.ts'
import { type ChainUnit, diffPaths, type Item, takePaths, type UndoSpace } from '../workspace/index.ts'
import type { Entry } from './undo-entry.ts'

const overlap = (a: string[], b: string[]) => a.some((one) => b.some((other) => within(one, other) || within(other, one)))

const hasKeys = (record: object): boolean => Object.keys(record).length > 0

type AcquirePaths = ReturnType<typeof createPathLock>

/** Creates the lock that lets one call at a time change a path, the folders above it and what is below it. */
export function createPathLock () {
  const held = new Map<string[], Promise<void>>()

  /** Waits for the paths. Returns the function that releases them. Rejects with the reason of an abort. */
  return async function acquire (paths: string[], signal?: AbortSignal): Promise<() => void> {
    for (;;) {
      signal?.throwIfAborted()
      const other = [...held].find(([theirs]) => overlap(paths, theirs))
      if (other === undefined) break
      await untilAborted(other[1], signal)
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    held.set(paths, promise)
    return () => {
      held.delete(paths)
      resolve()
    }
  }
}

async function untilAborted (promise: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return promise
  const aborted = Promise.withResolvers<void>()
  const abort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    await Promise.race([promise, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

export interface KeepParts {
  clock: Clock
  folder: string
  paths: PathPolicy
  acquire: AcquirePaths
  space: UndoSpace
  commands: RunningCommands
  log: Pick<Log, 'warn'>
}

/** What is there before a call, on disk and not yet named by a record. Its paths are held until `finish` or `discard`. */
export interface Kept extends KeptCall {
  id: string
  /** The key of the file of copies. */
  key?: string
  items: readonly Item[]
  /** As of any call; `isCut` for work that did not come to its end. */
  finish(report?: CallReport, isCut?: boolean): Promise<CallLeft>
}

/** What `keepCall` is told beside the call. */
interface KeepOptions {
  /** The paths are held already. */
  isLocked?: boolean
  /** The run whose changes are taken back or over. The record says that this was cut off until it is finished. */
  of?: string
  /** Returns the unit that a path belongs to, as far as it is known. */
  unitOf?: (path: string) => ChainUnit | undefined
}

/**
 * Copies what is at the paths of a call into a file for undo and syncs it. Waits while another call changes one of them. Throws
 * CopiesUnavailable when the disk is full, and PathRefused; then the call must not start.
 */
export async function keepCall (
  call: KeepCall,
  parts: KeepParts,
  { isLocked = false, of, unitOf = () => undefined }: KeepOptions = {}
): Promise<Kept> {
  const { runId, owner, toolCallId, toolName, cwd, places, uncovered = {}, signal } = call
  const { clock, folder, paths, acquire, space, commands } = parts
  const id = newId()
  const at = clock.now()
  const entry: Entry = { runId, owner, toolCallId, toolName, at, cwd, roots: places?.map(({ path }) => path) ?? [], items: [] }
  const named: Op[] = [{ type: 'put', key: undoOwnerKey(owner, runId), value: { at } }]
  if (of !== undefined) named.push({ type: 'put', key: undoWorkKey(of, runId), value: { at } })
  const recordOp = (value: Entry): Op => ({ type: 'put', key: undoEntryKey(runId, id), value })
  if (places === undefined) {
    const known = Object.fromEntries(Object.entries(uncovered).filter(([, value]) => value !== undefined))
    const value: Entry = { ...entry, uncovered: known, ended: true }
    return { id, items: [], ops: [...named, recordOp(value)], finish: async () => ({ ops: [] }), discard: async () => {} }
  }

  const unlock = isLocked ? () => {} : await acquire(entry.roots, signal)
  try {
    const snapshot = await takePaths(places, { folder, id, paths, space, signal, unitOf })
    const { items, units, key, bytes } = snapshot
    const fileKey = undoFileKey(id, bytes)
    const kept = { items, ...hasKeys(units) && { units }, ...(key !== undefined && { key }) }
    const begun: Entry = { ...entry, ...kept, ...(of !== undefined && { of, isCut: true }) }
    const open = undoOpenKey(id)
    return {
      id,
      key,
      items,
      ops: [
        ...named,
        recordOp(begun),
        { type: 'put', key: open, value: { runId } },
        ...key === undefined ? [] : [{ type: 'put' as const, key: fileKey, value: true }]
      ],
      async finish (report, isCut = false) {
        const diff = typeof report?.output?.diff === 'string' ? { diff: report.output.diff } : {}
        const reported = report && (report.changes ?? [])
        try {
          const { items: changed, units: left } = await diffPaths(snapshot, { places, reported, paths })
          commands.changed(changed.map(({ path }) => path))
          if (changed.length > 0) {
            const { isCut: _, ...whole } = begun
            const ended: Entry = { ...(isCut ? begun : whole), items: changed, ended: true, ...hasKeys(left) && { units: left }, ...diff }
            return { ops: [recordOp(ended), { type: 'del', key: open }] }
          }
          await snapshot.discard()
          return { ops: [undoEntryKey(runId, id), open, fileKey].map((key): Op => ({ type: 'del', key })) }
        } finally {
          snapshot.release()
          unlock()
        }
      },
      async discard () {
        await snapshot.discard()
        unlock()
      }
    }
  } catch (error) {
    unlock()
    throw error
  }
}
