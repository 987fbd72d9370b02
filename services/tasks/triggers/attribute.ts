import { join } from 'node:path'
import { timeOfId } from '../../lib/ids.ts'
import { outcomePrefix, outcomeTime, undoOwnerPrefix } from '../../store/index.ts'
import type { RunDeps } from '../task-deps.ts'
import type { RunOutcome } from '../schedule/outcomes.ts'
import type { StoredRun, StoredTask } from '../task-records.ts'
import { causesOf } from './cues.ts'
import type { FileChange } from './file-changes.ts'

/** Own runs, and runs of other tasks, that are asked whether they wrote a file; the newest. */
const MOST_OWN = 20
const MOST_OTHERS = 100
/** Milliseconds by which the end of a run and the time of what it wrote may differ. */
const SLACK_MS = 2_000
/** An undo that takes longer was cut. */
const LONGEST_UNDO_MS = 10 * 60_000

/** Runs that this process has stored, with the time of the last change; it tells of runs that are not over. */
export type RecentRuns = ReadonlyMap<string, number>

/** What a trigger may fire for, and the tasks whose runs made some of it. */
interface Attributed {
  changes: FileChange[]
  causes: string[]
}

/**
 * Leaves out the changes that runs of the task itself, and undos of them, made, and finds out which other tasks made the rest. What runs
 * have written is known from what is kept for undo. While a run makes calls whose changes are not known, and while an undo is under way,
 * all that changes counts as its own. `since`: the time of the last look, epoch milliseconds.
 */
export async function attributeChanges (
  { task, folder, changes, since, recent }: {
    task: StoredTask,
    folder: string,
    changes: FileChange[],
    since: number,
    recent: RecentRuns
  },
  { repository, store, undo, activeRuns, clock }: Pick<RunDeps, 'repository' | 'store' | 'undo' | 'activeRuns' | 'clock'>
): Promise<Attributed> {
  const from = since - SLACK_MS
  const endOf = ({ runId, completedAt }: StoredRun): number =>
    completedAt ?? (task.reviewRun?.runId === runId ? task.reviewRun.since : clock.now())

  /** Splits changes into those that a run made, and others. */
  async function split (run: StoredRun, among: FileChange[]): Promise<{ made: FileChange[], others: FileChange[] }> {
    const { paths, isUncovered } = await undo.asLeft(run.runId, among.map(({ path }) => join(folder, path)))
    const isWithin = ({ modifiedAt }: FileChange) =>
      modifiedAt === undefined || (modifiedAt >= run.startedAt - SLACK_MS && modifiedAt <= endOf(run) + SLACK_MS)
    const isMade = (change: FileChange) => paths.has(join(folder, change.path)) || (isUncovered && isWithin(change))
    return { made: among.filter(isMade), others: among.filter((change) => !isMade(change)) }
  }

  let left = changes
  const own = new Set<string>()
  for await (const run of repository.runs(task.id, { damaged () {} })) {
    if (left.length === 0 || own.size >= MOST_OWN) break
    own.add(run.runId)
    if (endOf(run) >= from) left = (await split(run, left)).others
  }
  // A person who takes back what a run has done does not ask for it again.
  for await (const key of store.keys(undoOwnerPrefix(task.id), { reverse: true, limit: MOST_OWN })) {
    const runId = key.slice(undoOwnerPrefix(task.id).length)
    if (left.length === 0 || own.has(runId)) continue
    const { paths, isOpen } = await undo.asLeft(runId, left.map(({ path }) => join(folder, path)))
    const isUnderWay = isOpen && timeOfId(runId) >= clock.now() - LONGEST_UNDO_MS
    left = isUnderWay ? [] : left.filter(({ path }) => !paths.has(join(folder, path)))
  }
  const causes = new Set<string>()
  if (left.length === 0) return { changes: left, causes: [] }

  const others = new Set(activeRuns.ofTasks().map(({ run }) => run.record.runId))
  for (const [runId, at] of recent) if (at >= from) others.add(runId)
  for (const kind of ['completed', 'failed', 'stopped']) {
    const options = { reverse: true, limit: MOST_OTHERS, damaged () {} }
    for await (const [key, { runId }] of store.list<RunOutcome>(outcomePrefix(kind), options)) {
      if (outcomeTime(kind, key) < from) break
      others.add(runId)
    }
  }
  for (const runId of [...others].sort().toReversed().slice(0, MOST_OTHERS)) {
    const run = activeRuns.ofTaskRun(runId)?.run.record ?? await repository.runById(runId)
    if (run === undefined || run.taskId === task.id) continue
    if ((await split(run, left)).made.length > 0) for (const cause of causesOf(run)) causes.add(cause)
  }
  return { changes: left, causes: [...causes] }
}
