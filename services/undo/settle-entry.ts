import { undoEntryKey, undoFilesPrefix, undoOpenKey, type Op } from '../store/index.ts'
import type { CallReport, KeepCall } from '../tools/index.ts'
import { diffPaths } from '../workspace/index.ts'
import type { RunningCommand } from './running-calls.ts'
import type { Entry, KeepParts } from './undo-entry.ts'

/** The sentence that warns that the changes of a command might include changes of others. */
export const LATE = 'The service ended before it knew what the command changed, and compared the folder when it started again: what ' +
  'others changed there meanwhile counts as the work of the command.'

interface HowCompared {
  /** The paths of the call. Absent: the paths of its entry, with everything below them. */
  places?: KeepCall['places']
  /** What the tool reported. Absent: every difference counts as the work of the call. */
  report?: CallReport
  /** What other calls of the service did while the command ran. */
  running?: Pick<RunningCommand, 'others' | 'isShared'>
  /** True if the folder is compared only after a restart of the service. */
  isLate?: boolean
}

/**
 * Ends an open entry: compares what it keeps with what is there now. Returns the entry with the changes, undefined if nothing changed and
 * all is known, and the operations that store it. `isCut` for an undo or an apply that did not complete.
 */
export async function endEntry (
  begun: Entry,
  { isCut, ...how }: HowCompared & { isCut?: boolean },
  parts: KeepParts
): Promise<{ ended?: Entry, ops: Op[] }> {
  const found = await changesOf(begun, how, parts)
  const key = undoEntryKey(begun.runId, begun.id)
  const ops: Op[] = [{ type: 'del', key: undoOpenKey(begun.id) }]
  if (found !== undefined) {
    const ended: Entry = { ...begun, tree: undefined, isCut: isCut || undefined, ...found, ended: true }
    return { ended, ops: [{ type: 'put', key, value: ended }, ...ops] }
  }
  for await (const file of parts.store.keys(undoFilesPrefix(begun.id))) ops.push({ type: 'del', key: file })
  return { ops: [{ type: 'del', key }, ...ops] }
}

async function changesOf (
  { tree, ...begun }: Entry,
  { places = begun.roots.map((path) => ({ path, withContents: true })), report, running, isLate = false }: HowCompared,
  { paths, snapshots, log }: KeepParts
): Promise<Partial<Entry> | undefined> {
  if (tree === undefined) {
    const { items, units } = await diffPaths(begun, { places, reported: report && (report.changes ?? []), paths })
    const diff = typeof report?.output?.diff === 'string' ? report.output.diff : undefined
    return items.length === 0 ? undefined : { items, units, diff }
  }
  const found = await snapshots.diff(tree.records).catch((error) => {
    if (!isLate) throw error
    log.warn({ err: error }, 'what a command changed could not be compared')
  })
  if (!found) return { uncovered: { ...begun.uncovered, reason: 'What it changed could not be found out after the service had ended.' } }
  const { differences, strange, unseen, units, contents } = found
  const own = differences.filter(({ path }) => running?.others.has(path) !== true)
  const items = running?.isShared || isLate ? own.map((item) => ({ ...item, isShared: true as const })) : own
  const sentences = [
    begun.uncovered?.reason,
    strange.length > 0 && `What was moved into the folder stays there: ${strange.slice(0, 5).join(', ')}.`,
    unseen.length > 0 && `What it changed in these folders is not known, because they cannot be read any more: ${unseen.join(', ')}.`,
    isLate && items.length > 0 && LATE
  ]
  const reason = sentences.filter(Boolean).join(' ')
  if (items.length === 0 && reason === '') return undefined
  return { items, units, contents, uncovered: reason === '' ? undefined : { target: tree.target, ...begun.uncovered, reason } }
}
