import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { RunChanges, UndoBody, Undone } from '../../schemas/undo.ts'
import { firstOf } from '../lib/first-of.ts'
import { UNDO_ENTRIES, undoFilesPrefix, undoOwnerPrefix, undoEntriesPrefix, undoWorksPrefix, type Op } from '../store/index.ts'
import type { KeepCall } from '../tools/index.ts'
import type { CommandPlace } from '../workspace/index.ts'
import type { UndoParts } from './open-undo.ts'
import type { Kept } from './keep-call.ts'
import type { AsLeft, FileTexts } from './run-changes.ts'

export type Undo = ReturnType<typeof createUndo>

/**
 * Keeps what tools of this service are about to change, so that the changes of a run can be listed and taken back. Its code is
 * loaded when it is first needed.
 */
export function createUndo (parts: UndoParts) {
  const { store } = parts
  const folder = join(parts.home, 'undo')
  let isSweepQueued = false
  let sweeping: Promise<void> = Promise.resolve()
  let opened: ReturnType<typeof open> | undefined
  const open = async () => (await import('./open-undo.ts')).openUndo({ ...parts, folder })
  const loaded = () => {
    opened ??= open()
    return opened
  }

  async function isUsed (): Promise<boolean> {
    return await firstOf(store.keys(UNDO_ENTRIES)) !== undefined
  }

  async function sweep (signal?: AbortSignal): Promise<void> {
    if (existsSync(folder) || await isUsed()) await (await loaded()).sweep(signal)
  }

  return {
    /** See `keepCall`. */
    keep: async (call: KeepCall): Promise<Kept> => (await loaded()).keep(call),

    /** Says in sentences what of a folder could be undone after a command. */
    outlook: async (place: CommandPlace, signal: AbortSignal): Promise<string> => (await loaded()).outlook(place, signal),

    /** Returns a page of the changes of a run or an undo, also while it is under way. Throws RunUnknown (404). */
    changes: async (runId: string, page: { limit: number, cursor?: string }): Promise<RunChanges> => (await loaded()).changes(runId, page),

    /** Returns the texts of the files that a run changed, before and after it, as far as they are known. Throws RunUnknown (404). */
    texts: async (runId: string): Promise<FileTexts[]> => (await loaded()).texts(runId),

    /** Returns which of these paths are as a run has left them. */
    asLeft: async (runId: string, among: readonly string[]): Promise<AsLeft> => (await loaded()).asLeft(runId, among),

    /**
     * Takes back the changes of a run, or of an undo. Throws RunUnknown (404), RunLive (409), NothingHappened (400), and as `undoRun` does.
     */
    takeBack: async (runId: string, options: UndoBody): Promise<Undone> => (await loaded()).takeBack(runId, options),

    /** Makes a folder as its copy is at these paths, see `takeOver`. Throws NotChanged (400) and CopiesUnavailable (503). */
    takeOver: async (...work: Parameters<Awaited<ReturnType<typeof open>>['takeOver']>) => (await loaded()).takeOver(...work),

    /** Returns the operations that remove what belongs to a task, or to a thread by its digest. `sweep` then removes the files. */
    async removal (owner: string): Promise<Op[]> {
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
    },

    sweepSoon (): void {
      if (isSweepQueued) return
      isSweepQueued = true
      sweeping = sweeping.then(() => {
        isSweepQueued = false
        return sweep()
      }).catch((error) => parts.log.warn({ err: error }, 'what is kept for undo could not be cleaned up'))
    },

    /** Resolves when the changes of commands of the run that go on now are stored. */
    settled: async (runId: string): Promise<void> => (await opened)?.settledOf(runId),

    /** Resolves when nothing is done in the background. */
    async idle (): Promise<void> {
      await sweeping
      await (await opened)?.settled()
    },

    /** Completes the entries of calls that were cut off, and removes old entries and files without an entry. */
    sweep
  }
}
