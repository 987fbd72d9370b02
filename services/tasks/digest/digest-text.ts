import { DIGEST_LIMITS, type Digest, type DigestAppCall, type DigestDenied, type DigestQuestion } from '../../../schemas/digest.ts'
import type { TaskEvaluation } from '../../../schemas/evaluation.ts'
import type { Slot } from '../../../schemas/schedule.ts'
import type { Firing } from '../../../schemas/triggers.ts'
import { nameOfTask } from '../../lib/short-name.ts'
import type { StoredHealth, StoredRun, StoredTask } from '../task-records.ts'

/** The most characters of a goal in a sentence. */
const GOAL_SHOWN = 120
/** The most characters of an output, error or input in a field of its own. */
const TEXT_SHOWN = 300
/** The most characters of an output, error or input within a sentence. */
const QUOTE_SHOWN = 160

export const shorten = (text: string, limit = TEXT_SHOWN) => text.length > limit ? `${text.slice(0, limit)}…` : text
const inLine = (text: string, limit = QUOTE_SHOWN) => shorten(text.replace(/\s+/g, ' ').trim(), limit)
export const shortGoal = ({ goal }: Pick<StoredTask, 'goal'>) => inLine(goal, GOAL_SHOWN)

const REASONS: Record<string, string> = {
  overlap: 'the run before was still under way',
  late: 'its time was noticed too late, and this schedule has no catch-up run',
  paused: 'the task was paused',
  changed: 'its schedule was changed just then',
  cancelled: 'the task was cancelled just then',
  ended: 'the end time of the task came',
  manual: 'a run by hand took its place',
  budget: 'the tasks had used up their budget of the day',
  failing: 'the task is failing, and is tried less often until a run completes'
}
const STOPPED: Partial<Record<StoredRun['status'], string>> = {
  failed: 'failed',
  rejected: 'was rejected',
  cancelled: 'was cancelled',
  interrupted: 'was interrupted'
}

export type DigestText = ReturnType<typeof createDigestText>

/** Creates the functions that describe the entries of a digest in sentences, with times in the given time zone. */
export function createDigestText (timezone: string) {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short', timeStyle: 'short' })
  const time = (at: number) => format.format(at)
  const name = (task: StoredTask) => `“${nameOfTask(task)}”`

  return {
    run: (task: StoredTask, { runNumber, status, review, standsFor, output, error, evaluation, toolCalls }: StoredRun) => {
      const subject = `Run ${runNumber} of ${name(task)}${
        standsFor === undefined ? '' : `, which makes up for ${counted(standsFor, 'planned time')},`
      }`
      const calls = grantedCalls(toolCalls)
      const unseen = review === 'superseded' || review === 'expired' ? ', its result unseen' : ''
      const how = `${judgementOf(evaluation)}${unseen}${calls}`
      if (status === 'completed') return `${subject} completed${how}${output ? `: ${inLine(output)}` : '.'}`
      return `${subject} ${STOPPED[status]}${calls}${error ? `: ${inLine(error)}` : '.'}`
    },

    notRun: (task: StoredTask, { at, from, count, fate, reason, since, settledAt }: Slot) => {
      const times = count === undefined ? `at ${time(at)}` : `${counted(count, 'time')} from ${time(from!)} to ${time(at)}`
      const why = fate === 'missed'
        ? `this was noticed only at ${time(settledAt!)}, too late to make up for it`
        : since !== undefined ? `it has waited for you since ${time(since)}` : REASONS[reason ?? ''] ?? reason
      return `${name(task)} did not run ${times}: ${why}.`
    },

    fired: (task: StoredTask, firing: Firing) => `${name(task)}: ${firingText(firing)}.`,

    /** Describes an item that waits for a person. `call` is the description of the tool call to approve. */
    waiting: (task: StoredTask, { kind, about, reason, call }: Pick<DigestQuestion, 'kind' | 'about' | 'reason'> & { call?: string }) =>
      `${name(task)} asks ${{
        tool: `whether it may ${call}${reason ? ` (${inLine(reason)})` : ''}`,
        result: `whether its result is good: ${inLine(about)}`,
        question: inLine(about)
      }[kind]}`,

    waitingForApp: (
      task: StoredTask,
      { app, call, isClaimed }: Pick<DigestAppCall, 'app' | 'isClaimed'> & { call: string }
    ) =>
      `${name(task)} waits for ${app === undefined ? 'its application' : `the application ${inLine(app)}`}, which ${
        isClaimed ? 'executes its call' : 'is to execute its call'
      }: ${call}`,

    working: (task: StoredTask, { runNumber, status, startedAt, retryAt }: StoredRun) =>
      `Run ${runNumber} of ${name(task)} ${
        retryAt === undefined
          ? `${status === 'queued' ? 'waits for its turn' : 'is at work'} since ${time(startedAt)}`
          : `waits for its model provider, and goes on at ${time(retryAt)}`
      }.`,

    failing: (task: StoredTask, { failures, nextTryAt }: StoredHealth, error?: string) =>
      `${name(task)} has failed ${failures} times in a row${nextTryAt === undefined ? '' : ` and is tried again at ${time(nextTryAt)}`}${
        error ? `; the last time: ${inLine(error)}` : '.'
      }`,

    denied ({ call, count, grant, isGranted }: Pick<DigestDenied, 'count' | 'grant' | 'isGranted'> & { call: string }) {
      const denied = `It was not allowed to ${call}${count === 1 ? '' : ` (${count} times)`}`
      if (isGranted) return `${denied}, as no grant covered it; one does now.`
      return `${denied}, as no grant covers it${grant === undefined ? ', and none can' : ''}.`
    },

    task: (
      task: StoredTask,
      { runs, nothing, denied, passed }: { runs: number, nothing: number, denied: number, passed: readonly Slot[] }
    ) => {
      const times = passed.reduce((sum, { count = 1 }) => sum + count, 0)
      const parts = [
        ...runs > 0 ? [counted(runs, 'run')] : [],
        ...nothing > 0 ? [`${counted(nothing, runs > 0 ? 'other' : 'run')} with nothing to do`] : [],
        ...denied > 0 ? [`${counted(denied, 'call')} denied for lack of a grant`] : [],
        ...times > 0 ? [`${counted(times, 'planned time')} without a run`] : []
      ]
      return `${name(task)}: ${parts.join(', ')}.`
    },

    next: (task: StoredTask, at: number) => `${name(task)} runs at ${time(at)}.`,

    all (
      since: number,
      { nothingToDo, completed, failed, stopped, notRun, fired, waiting, waitingForApp, working, failing, next, chats, answered }: Omit<
        Digest,
        'since' | 'until' | 'text' | 'tasks'
      > & { answered: number },
      damaged: string[]
    ) {
      const idle = nothingToDo === 0 ? '' : `${counted(nothingToDo, 'run')} had nothing to do`
      const ran = [counts(completed, 'run', 'completed'), counts(failed, 'run', 'failed'), counts(stopped, 'run', 'stopped'), idle]
        .filter((part) => part !== '')
      const unanswered = chats.items.length + chats.more - answered
      return [
        `Since ${time(since)}: ${ran.length > 0 ? ran.join(', ') : 'nothing ran'}.`,
        ...sentence('Answers in chats', answered === 0 ? '' : counted(answered, 'chat')),
        ...sentence('Ended without an answer', unanswered === 0 ? '' : counted(unanswered, 'chat')),
        ...sentence('Passed without a run', counts(notRun, 'planned time')),
        ...sentence('Triggers', awayText(fired)),
        ...sentence('Triggers that fired without a run', counts(withoutRun(fired), 'time')),
        ...sentence('Waiting for your answer', counts(waiting, 'question')),
        ...sentence('Waiting for an application', counts(waitingForApp, 'call')),
        ...sentence('Under way', counts(working, 'run')),
        ...sentence('Failing five times in a row or more', counts(failing, 'task')),
        ...sentence('Damaged, so that they cannot be read', damaged.join(', ')),
        ...(next.items.length > 0 ? [`Next: ${next.items[0].text}`] : [])
      ].join(' ')
    }
  }
}

const FATES: Partial<Record<Firing['fate'], string>> = {
  loop: 'it did not run for it, as it is itself among the causes',
  limit: 'it did not run for it, as its triggers had begun 20 runs within an hour'
}

const filesChanged = (n: number, away: boolean) => `${counted(n, 'file')} changed${away ? ' while the service was away' : ''}`

/** Describes one firing of a trigger (a moment when its condition was met) and, if it began no run, why not. */
function firingText ({ type, fate, reason, changed = 0, ends = [], away = false, count }: Firing): string {
  const what = type === 'files' ? filesChanged(changed, away) : `${counted(ends.length, 'run')} of another task ended`
  const why = fate === 'skipped' ? `it did not run for it: ${REASONS[reason ?? ''] ?? reason}` : FATES[fate]
  return `${what}${count === undefined ? '' : `, the last of ${count} times`}${why === undefined ? '' : `; ${why}`}`
}

type Fired = Digest['fired']
/** Describes how many files changed while the service was not running; '' if none did. */
function awayText ({ items }: Fired): string {
  const files = items.reduce((sum, { firing: { away, changed = 0 } }) => away ? sum + changed : sum, 0)
  return files === 0 ? '' : filesChanged(files, true)
}
const withoutRun = ({ items, more }: Fired): Fired =>
  ({ items: items.filter(({ firing: { fate } }) => fate !== 'run' && fate !== 'coalesced'), more })

/** Returns the words that follow "completed" for a run: whether it had nothing to do, did a part, or has an unverified report. */
function judgementOf ({ judge, outcome, evidence, verified }: Partial<TaskEvaluation> = {}): string {
  const mark = verified === false && judge !== 'none' && evidence !== 'unchecked' ? ' (its report is not verified)' : ''
  if (outcome === 'nothing_to_do') return ` with nothing to do${mark}`
  if (outcome === 'partly') return ` in part${mark}`
  if (judge === 'none') return ' (not judged)'
  return evidence === 'unchecked' ? ' (not all that it claims could be checked)' : mark
}

/** Counts the calls that a grant allowed and the calls that were denied, in words; '' for a run without calls that a grant allowed. */
function grantedCalls (calls: StoredRun['toolCalls']): string {
  const ran = calls.filter(({ grantId }) => grantId !== undefined).length
  const denied = calls.filter(({ status }) => status === 'denied').length
  if (ran === 0) return ''
  return ` (${counted(ran, 'call')} by grant${denied > 0 ? `, ${counted(denied, 'other')} denied` : ''})`
}

const counted = (n: number, thing: string) => `${n} ${thing}${n === 1 ? '' : 's'}`
const sentence = (title: string, text: string) => text === '' ? [] : [`${title}: ${text}.`]

/** Returns a text such as "3 runs failed", or "at least 1000 runs failed" where counting stopped at the limit; '' for none. */
function counts ({ items, more }: { items: unknown[], more: number }, thing: string, participle = '') {
  const n = items.length + more
  if (n === 0) return ''
  return `${n >= DIGEST_LIMITS.counted ? 'at least ' : ''}${counted(n, thing)}${participle && ` ${participle}`}`
}
