import { join } from 'node:path'
import { timeOfId } from '../../lib/ids.ts'
import { outcomePrefix, outcomeTime, undoOwnerPrefix } from '../../store/index.ts'
import type { RunDeps } from '../task-deps.ts'
import type { RunOutcome } from '../schedule/outcomes.ts'
import type { StoredRun, StoredTask } from '../task-records.ts'
import { causesOf } from './cues.ts'
import type { ChangedFile } from '../../../schemas/triggers.ts'

/** Own runs, and runs of other tasks, that are asked whether they wrote a file; the newest. */
const MOST_OWN = 20
const MOST_OTHERS = 100
/** Milliseconds by which the end of a run and the time of what it wrote may differ. */
const SLACK_MS = 2_000
/** An undo that takes longer was cut. */
const LONGEST_UNDO_MS = 10 * 60_000

/** Runs that this process has stored, with the time of the last change; it tells of runs that are not over. */
type RecentRuns = ReadonlyMap<string, number>

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

/** Path relative to the folder, bytes, and the time of the last change of the content in milliseconds since the Unix epoch. */
export type SeenFile = [path: string, size: number, modifiedAt: number]

/** What a files trigger has seen, as it is stored. */
export interface Seen {
  /** The task was started or resumed then: what was seen earlier is of an earlier start. Milliseconds since the Unix epoch. */
  since: number
  /** When it was seen; milliseconds since the Unix epoch. */
  at: number
  /** Real path of the folder. */
  folder: string
  files: SeenFile[]
}

/** A change, and when the content of the file that is there now was last changed. */
export type FileChange = ChangedFile & { modifiedAt?: number }

/**
 * Returns what differs between two looks at a folder, by path. Nothing is known of what is below the folders that cannot be read now
 * (`closed`, each with `/` at its end).
 */
export function changesBetween (before: readonly SeenFile[], now: readonly SeenFile[], closed: readonly string[] = []): FileChange[] {
  const known = new Map(before.map((file) => [file[0], file]))
  const changes: FileChange[] = []
  for (const [path, size, modifiedAt] of now) {
    const was = known.get(path)
    known.delete(path)
    if (was === undefined) changes.push({ path, kind: 'new', modifiedAt })
    else if (was[1] !== size || was[2] !== modifiedAt) changes.push({ path, kind: 'changed', modifiedAt })
  }
  for (const path of known.keys()) {
    if (!closed.some((folder) => path.startsWith(folder))) changes.push({ path, kind: 'deleted' })
  }
  return changes.sort((a, b) => a.path < b.path ? -1 : 1)
}

/** The files that are seen now, with those below folders that cannot be read now as they were before. */
export function withClosed (now: SeenFile[], before: readonly SeenFile[], closed: readonly string[]): SeenFile[] {
  if (closed.length === 0) return now
  const there = new Set(now.map(([path]) => path))
  return [...now, ...before.filter(([path]) => !there.has(path) && closed.some((folder) => path.startsWith(folder)))]
}
