import { join } from 'node:path'
import { timeOfId } from '../../lib/ids.ts'
import { outcomePrefix, outcomeTime, undoOwnerPrefix } from '../../store/index.ts'
import type { RunDeps } from '../task-deps.ts'
import type { RunOutcome } from '../schedule/outcomes.ts'
import type { StoredRun, StoredTask } from '../task-records.ts'
import { causesOf } from './cues.ts'
import type { ChangedFile } from '../../../schemas/triggers.ts'

/** How many of the newest runs of the task, and of other tasks, are checked for whether they wrote a file. */
const MOST_OWN = 20
const MOST_OTHERS = 100
/** By how many milliseconds the time of a run's write can lie before the start or after the end of the run. */
const SLACK_MS = 2_000
/** An undo that takes longer, in milliseconds, was interrupted. */
const LONGEST_UNDO_MS = 10 * 60_000

/** The ids of runs that this process has stored, with the time of their last change. They include runs that have not ended. */
type RecentRuns = ReadonlyMap<string, number>

/** Changes for which a trigger can fire, and the ids of other tasks whose runs made some of the changes. */
interface Attributed {
  changes: FileChange[]
  causes: string[]
}

/**
 * Leaves out changes that the task's own runs, and undos of these runs, have made, and finds the other tasks that made the rest.
 * The copies for undo show which files a run has written. While a run makes calls whose changes are not recorded, and while an
 * undo is active, all changes count as the task's own. `since`: the time of the last look, milliseconds since the Unix epoch.
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

  /** Splits changes into those that a run made, and all others. */
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
  // A person who undoes the work of a run does not want the task to do it again.
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

/** The path relative to the folder, the size in bytes, and the modification time in milliseconds since the Unix epoch. */
export type SeenFile = [path: string, size: number, modifiedAt: number]

/** The files that a trigger has seen, as they are stored. */
export interface Seen {
  /**
   * When the task was started or resumed, milliseconds since the Unix epoch. Another value than that of the task
   * means that the task was started again since.
   */
  since: number
  /** When the folder was read; milliseconds since the Unix epoch. */
  at: number
  /** Real path of the folder. */
  folder: string
  files: SeenFile[]
}

/** A changed file. `modifiedAt`: its modification time, milliseconds since the Unix epoch; absent for a deleted file. */
export type FileChange = ChangedFile & { modifiedAt?: number }

/**
 * Returns the differences between two lists of the files in a folder, sorted by path. Files below folders that
 * cannot be read now (`closed`, each path with `/` at its end) do not count as deleted.
 */
export function changesBetween (before: readonly SeenFile[], now: readonly SeenFile[], closed: readonly string[] = []): FileChange[] {
  const known = new Map(before.map((file) => [file[0], file]))
  const changes: FileChange[] = []
  for (const [path, size, modifiedAt] of now) {
    const was = known.get(path)
    known.delete(path)
    if (was?.[1] !== size || was[2] !== modifiedAt) changes.push({ path, kind: was === undefined ? 'new' : 'changed', modifiedAt })
  }
  for (const path of known.keys()) if (!closed.some((folder) => path.startsWith(folder))) changes.push({ path, kind: 'deleted' })
  return changes.sort((a, b) => a.path < b.path ? -1 : 1)
}

/** Returns the files of `now`, and those of `before` that lie below folders which cannot be read now (`closed`). */
export function withClosed (now: SeenFile[], before: readonly SeenFile[], closed: readonly string[]): SeenFile[] {
  if (closed.length === 0) return now
  const there = new Set(now.map(([path]) => path))
  return [...now, ...before.filter(([path]) => !there.has(path) && closed.some((folder) => path.startsWith(folder)))]
}
