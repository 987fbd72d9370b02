import { dirname } from 'node:path'
import type { ReplacedChanges, Undone, UndoReason } from '../../schemas/undo.ts'

/** The most restored paths, and the most skipped paths, that an answer names. */
const NAMED_PATHS = 100

export interface UndoRunsOptions {
  dryRun: boolean
  /** Replaces paths in copies of folders by the paths in the folders themselves. */
  withRealPaths: <T>(value: T) => T
}

/**
 * Undoes the changes of runs or, with `dryRun`, finds out what an undo would do. `ids`: the runs, the newest first. `undo` undoes the
 * changes of one of them.
 */
export async function undoRuns (
  ids: readonly string[],
  undo: (id: string) => Promise<Undone>,
  { dryRun, withRealPaths }: UndoRunsOptions
): Promise<ReplacedChanges> {
  const restored = new Set<string>()
  /** The restored paths, with the folders above them. */
  const touched = new Set<string>()
  const skipped = new Map<string, UndoReason>()
  const undoIds: string[] = []
  const notCovered = new Set<string>()
  for (const id of ids) {
    const undone = withRealPaths(await undo(id))
    if (undone.undoId !== undefined) undoIds.push(undone.undoId)
    for (const { toolCallId } of undone.notCovered) notCovered.add(toolCallId)
    for (const path of undone.restored) skipped.delete(path)
    for (const { path, reason } of undone.skipped) {
      // The path is as it was before this run, even if the undo of a newer run has skipped it.
      if (reason === 'undone') skipped.delete(path)
      // In a preview, the undo of a newer run has not happened yet. It would restore the path to what this run left.
      else if (!skipped.has(path) && !(dryRun && touched.has(path))) skipped.set(path, reason)
    }
    for (const path of undone.restored) {
      restored.add(path)
      for (let above = path; !touched.has(above); above = dirname(above)) touched.add(above)
    }
  }
  return {
    restored: [...restored].slice(0, NAMED_PATHS),
    restoredCount: restored.size,
    skipped: [...skipped].slice(0, NAMED_PATHS).map(([path, reason]) => ({ path, reason })),
    skippedCount: skipped.size,
    notCoveredCount: notCovered.size,
    undoIds
  }
}
