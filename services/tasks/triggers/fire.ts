import type { Firing, Trigger } from '../../../schemas/triggers.ts'
import { jsonBytes } from '../../lib/json.ts'
import { newId } from '../../lib/ids.ts'
import { firingKey, type Op, taskInputKey, triggerCueKey } from '../../store/index.ts'
import { newRun } from '../new-run.ts'
import { outcomeOfFiring } from '../schedule/outcomes.ts'
import { budgetNotification } from '../task-notifications.ts'
import type { RunDeps } from '../task-deps.ts'
import type { FiringState, StoredTask } from '../task-records.ts'
import type { Change } from '../task-repository.ts'
import { type Cue, firingRemovals } from './cues.ts'
import type { FileChange } from './file-changes.ts'

const HOUR_MS = 60 * 60 * 1000
/** The most runs that the triggers of a task can begin within an hour. */
const MOST_AN_HOUR = 20
/** The most firings stored for a task, and how many more can accumulate before the oldest are removed together. */
const MOST_FIRINGS = 1_000
const SLACK = 100
/**
 * The most changed files that are stored with a firing; the most that its run receives; and the most characters
 * of the paths that the run receives.
 */
const FILES_STORED = 50
const FILES_TOLD = 200
const CHARACTERS_TOLD = 16_000
/** The most characters of the report of another task's run that the run receives. */
const REPORT_TOLD = 8_000

/** Changed files for which a trigger can fire. */
export interface FilesFound {
  type: 'files'
  trigger: Trigger & { type: 'files' }
  /** Real path. */
  folder: string
  changes: FileChange[]
  causes: string[]
  /** The files changed while the service was not running. */
  away: boolean
  /** The files changed while the task was paused. */
  rested: boolean
}
/** Ended runs of other tasks, for which a trigger can fire. */
interface EndsFound {
  type: 'task'
  cues: Cue[]
  causes: string[]
  rested: boolean
}
export type Found = FilesFound | EndsFound

/** The fate of a firing that begins no run. */
type LeftOut = Pick<Firing, 'fate' | 'reason'>

/**
 * Returns the change of a task whose triggers have fired: the firings with their fates and, if at least one is allowed to begin a run, the
 * new run, all in one transaction. `ops` are the operations that mark the found changes as handled; the function adds further operations to
 * this array.
 */
export async function fire (
  task: StoredTask,
  found: readonly Found[],
  ops: Op[],
  { deps, begin }: { deps: RunDeps, begin: (taskId: string, runId: string) => void }
): Promise<Change<undefined>> {
  const { clock, store, repository } = deps
  const now = clock.now()
  const recent = (task.firing?.runs ?? []).filter((at) => at > now - HOUR_MS && at <= now)
  const over = found.every((each) => ownLeftOut(task, each) !== undefined) ? undefined : await deps.usage.tasksOverBudget()

  const leftOut = (each: Found): LeftOut | undefined => {
    const own = ownLeftOut(task, each)
    if (own !== undefined) return own
    const { nextTryAt } = task.health ?? {}
    if (nextTryAt !== undefined && now < nextTryAt) return { fate: 'skipped', reason: 'failing' }
    if (over !== undefined) return { fate: 'skipped', reason: 'budget' }
    return recent.length >= MOST_AN_HOUR ? { fate: 'limit' } : undefined
  }

  let firing: FiringState = { since: 0, ...task.firing, lastAt: now, runs: recent }
  const running = found.filter((each) => leftOut(each) === undefined)
  const causes = [...new Set(running.flatMap((each) => each.causes))]
  const created = running.length === 0
    ? undefined
    : await newRun(repository, task, running[0].type, now, causes.length > 0 ? { causes } : {})
  const input = created && await inputOf(running, deps)

  async function keep (each: Found): Promise<void> {
    const out = leftOut(each)
    const fate = out ?? { fate: each === running[0] ? 'run' as const : 'coalesced' as const, runId: created!.run.runId }
    const { last } = firing
    const isSame = out !== undefined && last?.fate === out.fate && last.reason === out.reason && last.type === each.type
    const before = isSame ? await store.get<Firing>(firingKey(task.id, last.id)).catch(() => undefined) : undefined
    const id = before?.id ?? newId()
    const value: Firing = { id, at: now, type: each.type, ...fate, ...firingDetails(each), ...before && { count: (before.count ?? 1) + 1 } }
    if (before !== undefined) ops.push(...outcomeOfFiring('del', task.id, before))
    ops.push({ type: 'put', key: firingKey(task.id, id), value }, ...outcomeOfFiring('put', task.id, value))
    const { type, reason } = value
    const count = (firing.count ?? 0) + (before === undefined ? 1 : 0)
    firing = { ...firing, count, last: { id, type, fate: value.fate, ...reason !== undefined && { reason } } }
  }
  for (const each of found) {
    await keep(each)
    if (each.type === 'task') for (const { runId } of each.cues) ops.push({ type: 'del', key: triggerCueKey(task.id, runId) })
  }
  if (firing.count! > MOST_FIRINGS + SLACK) {
    ops.push(...await firingRemovals(store, task.id, SLACK))
    firing = { ...firing, count: firing.count! - SLACK }
  }
  if (over !== undefined) ops.push(...budgetNotification(deps.notifications, over, now))
  if (created === undefined) return { task: { ...task, firing }, ops, answer: undefined }
  const { runId, runNumber } = created.run
  return {
    task: { ...created.task, status: 'running', liveRun: { runId, runNumber }, firing: { ...firing, runs: [...recent, now] } },
    runs: [{ ...created.run, inputBytes: jsonBytes(input) }],
    ops: [...ops, ...created.ops, { type: 'put', key: taskInputKey(runId), value: input }],
    answer: undefined,
    after: () => begin(task.id, runId)
  }
}

function ownLeftOut ({ id }: StoredTask, { causes, rested }: Found): LeftOut | undefined {
  if (rested) return { fate: 'skipped', reason: 'paused' }
  return causes.includes(id) ? { fate: 'loop' } : undefined
}

function firingDetails (found: Found): Partial<Firing> {
  const causes = found.causes.length > 0 ? { causes: found.causes } : {}
  if (found.type === 'task') return { ...causes, ends: found.cues.map(({ taskId, runId, on }) => ({ taskId, runId, on })) }
  const { folder, changes, away } = found
  const files = changes.slice(0, FILES_STORED).map(({ path, kind }) => ({ path, kind }))
  return { ...causes, folder, files, changed: changes.length, ...away && { away } }
}

/** Returns the data that the new run receives: the changed files, and the reports of the runs that ended. */
async function inputOf (found: readonly Found[], { repository }: RunDeps): Promise<object> {
  const files = found.flatMap((each) => each.type === 'files' ? [filesTold(each)] : [])
  const ends = []
  for (const each of found) {
    if (each.type !== 'task') continue
    for (const { taskId, runId, on } of each.cues) {
      const { output, error } = await repository.runById(runId) ?? {}
      ends.push({ taskId, runId, ended: on, report: (output ?? error ?? '').slice(0, REPORT_TOLD) })
    }
  }
  return { ...files.length > 0 && { changedFiles: files }, ...ends.length > 0 && { endedRuns: ends } }
}

function filesTold ({ folder, changes, away }: FilesFound): object {
  let room = CHARACTERS_TOLD
  const told = changes.slice(0, FILES_TOLD).filter(({ path }) => (room -= path.length) >= 0)
  const more = changes.length - told.length
  return {
    folder,
    count: changes.length,
    files: told.map(({ path, kind }) => `${kind}: ${path}`),
    ...more > 0 && { more: `and ${more} more` },
    ...away && { when: 'while the service was away' }
  }
}
