import type { Phase } from '../../schemas/tasks.ts'
import type { TaskItem } from '../contracts/approval-record.ts'
import type { ToolHost } from '../tools/index.ts'
import { inState } from '../contracts/approval-states.ts'
import { Aborted } from '../lib/abort.ts'
import type { RunEnding } from './runner/run-ending.ts'
import type { Schedules } from './schedule/schedules.ts'
import { BadTask, WrongState } from './task-errors.ts'
import { isFinished, type StoredRun, type StoredTask } from './task-records.ts'
import type { Change, TaskRepository } from './task-repository.ts'

/** The most phases that the error message names, and the most characters shown of each. */
const PHASES_NAMED = 6
const PHASE_SHOWN = 80

/** Throws BadTask (400) if the end time is in the past. 0 means no end time. */
export function assertAhead (endsAt: number | undefined, now: number): void {
  if (endsAt === undefined || endsAt === 0 || endsAt > now) return
  throw new BadTask(`endsAt is ${new Date(endsAt).toISOString()}, which is over. Give a time to come, in milliseconds since 1970.`)
}

/** Throws WrongState (409) if the end time of the task has passed. */
export function assertBeforeEnd ({ endsAt = Infinity }: Pick<StoredTask, 'endsAt'>, now: number): void {
  if (endsAt > now) return
  throw new WrongState(
    `The end time of the task, ${new Date(endsAt).toISOString()}, is over. PUT /tasks/:id with a later "endsAt", or with 0 for none.`
  )
}

interface EndParts {
  repository: Pick<TaskRepository, 'openRuns' | 'open'>
  schedules: Pick<Schedules, 'timezone' | 'end' | 'keep'>
  say: ToolHost['say']
  /** Stops all runs of the task. */
  stopAll: (task: StoredTask, reason: Aborted, ending: (run: StoredRun) => RunEnding) =>
  Promise<Pick<Required<Change<undefined>>, 'task' | 'runs' | 'events'>>
}

/**
 * Returns the change that ends the task at its end time. A `one_shot` task that never began a run is cancelled;
 * other tasks become completed.
 */
export async function endInTime (task: StoredTask, { repository, schedules, say, stopAll }: EndParts): Promise<Change<undefined>> {
  const at = task.endsAt!
  const open = (await Promise.all((await repository.openRuns(task)).map(repository.open))).flat()
  const ending = (run: StoredRun) => endingInTime(run, { endsAt: at, open, zone: schedules.timezone(), say })
  const stopped = await stopAll(task, new Aborted('cancel', 'The end time of the task came.'), ending)
  const { task: ended, ops } = await schedules.end(stopped.task, 'ended')
  const isUnbegun = task.taskType === 'one_shot' && task.totalRuns === 0
  // The stored slot lets the digest say why the task did not run.
  const noted = isUnbegun
    ? await schedules.keep(ended, [{ at, fate: 'skipped', reason: 'ended' }])
    : { ops: [], slotCount: ended.slotCount }
  const { returnTo, pausedReason, liveRun, reviewRun, ...rest } = ended
  const status = isFinished(rest) ? rest.status : isUnbegun ? 'cancelled' : 'completed'
  return {
    ...stopped,
    task: { ...rest, status, slotCount: noted.slotCount },
    approvals: open.map((item) => inState(item, 'expired')),
    ops: [...ops, ...noted.ops],
    answer: undefined
  }
}

/**
 * Returns how a run ends at the end time of its task. A run whose result waits for approval is completed; any
 * other run fails, with an error that lists its finished and unfinished phases.
 */
function endingInTime (
  run: StoredRun,
  { endsAt, open, zone, say }: { endsAt: number, open: readonly TaskItem[], zone: string, say: ToolHost['say'] }
): RunEnding {
  const waiting = open.filter(({ runId }) => runId === run.runId)
  if (waiting.some(({ kind }) => kind === 'result')) return { status: 'completed', review: 'expired' }
  const time = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' }).format(endsAt)
  const done = run.phases.filter(({ status }) => status === 'completed')
  const left = run.phases.filter(({ status }) => status !== 'completed')
  const sentences = [
    `Stopped at its end time, ${time}.`,
    ...waiting.length === 0 ? [] : [`It waited for an answer: ${waiting.map((item) => askedBy(item, say)).join('; ')}.`],
    ...done.length === 0 ? [] : [`Done: ${named(done)}.`],
    ...left.length === 0 ? [] : [`Not done: ${named(left)}.`]
  ]
  return { status: 'failed', failure: { reason: 'time' }, error: sentences.join(' ') }
}

/** Returns the text of the question that an open item asks. */
function askedBy (item: TaskItem, say: ToolHost['say']): string {
  switch (item.kind) {
    case 'tool':
    case 'app':
      return say(item).text
    case 'question':
      return item.questions.map(({ text }) => text).join(' ')
    case 'result':
      return 'the result'
  }
}

function named (phases: readonly Phase[]): string {
  const names = phases.slice(0, PHASES_NAMED).map(({ description }) =>
    `“${description.length > PHASE_SHOWN ? `${description.slice(0, PHASE_SHOWN).toWellFormed()}…` : description}”`)
  const more = phases.length - names.length
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
