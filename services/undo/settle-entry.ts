import type { CallReport, KeepCall, PathPolicy } from '../tools/index.ts'
import { diffPaths, type Snapshots } from '../workspace/index.ts'
import type { Entry } from './undo-entry.ts'

/** The sentence that warns that the changes of a command might include changes of others. */
export const LATE = 'The service ended before it knew what the command changed, and compared the folder when it started again: what ' +
  'others changed there meanwhile counts as the work of the command.'

interface HowCompared {
  /** The paths of the call. Absent: the paths of its entry, with everything below them. */
  places?: KeepCall['places']
  /** What the tool reported. Absent: every difference counts as the work of the call. */
  report?: CallReport
  /** Paths that other calls of the service changed while the command ran. */
  others?: ReadonlySet<string>
  /** True if others might have worked in the folder of the command while it continued after its call. */
  isShared?: boolean
  /** True if the folder is compared only after a restart of the service. */
  isLate?: boolean
}

/**
 * Compares what an entry keeps with what is there now. Returns the entry with the changes; undefined if nothing changed and all is known.
 */
export async function settleEntry (
  { tree, isCut: _, ...begun }: Entry,
  { places = begun.roots.map((path) => ({ path, withContents: true })), report, others, isShared, isLate = false }: HowCompared,
  { paths, snapshots }: { paths: PathPolicy, snapshots: Snapshots }
): Promise<Entry | undefined> {
  if (tree === undefined) {
    const { items, units } = await diffPaths(begun, { places, reported: report && (report.changes ?? []), paths })
    const diff = typeof report?.output?.diff === 'string' ? report.output.diff : undefined
    return items.length === 0 ? undefined : { ...begun, items, units, diff, ended: true }
  }
  const { differences, strange, unseen, units, contents } = await snapshots.diff(tree.records)
  const own = differences.filter(({ path }) => others?.has(path) !== true)
  const items = isShared || isLate ? own.map((item) => ({ ...item, isShared: true as const })) : own
  const sentences = [
    begun.uncovered?.reason,
    strange.length > 0 && `What was moved into the folder stays there: ${strange.slice(0, 5).join(', ')}.`,
    unseen.length > 0 && `What it changed in these folders is not known, because they cannot be read any more: ${unseen.join(', ')}.`,
    isLate && items.length > 0 && LATE
  ]
  const reason = sentences.filter(Boolean).join(' ')
  if (items.length === 0 && reason === '') return undefined
  const uncovered = reason === '' ? undefined : { target: tree.target, ...begun.uncovered, reason }
  return { ...begun, items, units, contents, ended: true, uncovered }
}
