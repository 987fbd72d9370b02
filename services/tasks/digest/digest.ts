import { DIGEST_LIMITS, type Digest, type DigestAppCall, type DigestQuestion, type DigestRun } from '../../../schemas/digest.ts'
import type { Clock } from '../../lib/clock.ts'
import { outcomePrefix, outcomeTime, type Store } from '../../store/index.ts'
import { type Ledger, type LiveQuestions, questionView } from '../../approvals/index.ts'
import type { TaskRepository } from '../task-repository.ts'
import type { OutcomeKind, RunOutcome, SlotOutcome } from '../schedule/outcomes.ts'
import type { AppCallItem, TaskApproval } from '../../contracts/approval-record.ts'
import type { TaskStates } from '../task-index.ts'
import { runsNextAt } from '../task-health.ts'
import type { StoredHealth, StoredRun, StoredTask } from '../task-records.ts'
import type { TaskEvaluation } from '../../../schemas/evaluation.ts'
import type { Slot } from '../../../schemas/schedule.ts'

/** Outcomes of the last moments may not be stored yet, so the digest ends this long before now; milliseconds. */
const SETTLES_MS = 1_000

/** Claims shown of each run. */
const CLAIMS_SHOWN = 5

/** The first items of a list, and the number of further items. */
interface Excerpt<T> {
  items: T[]
  more: number
}

/**
 * Summarizes what the tasks did since a given time. It reads each unfinished task once, the live runs, and the past runs
 * that it shows, which the outcome index in `schedule/outcomes.ts` finds. It reads no other run or finished task.
 */
export function createDigest (
  { repository, ledger, liveQuestions, store, clock, timezone }: {
    repository: TaskRepository,
    ledger: Ledger,
    liveQuestions: Pick<LiveQuestions, 'ofTask'>,
    store: Store,
    clock: Clock,
    timezone: () => string
  }
) {
  /** The newest outcomes of that kind since that time, without those of deleted tasks. */
  async function outcomesSince<T extends { taskId: string }> (
    kind: OutcomeKind,
    since: number,
    limit: number,
    states: TaskStates
  ): Promise<Excerpt<T>> {
    const items: T[] = []
    let more = 0
    for await (const [key, entry] of store.list<T>(outcomePrefix(kind), { reverse: true, damaged () {} })) {
      if (outcomeTime(kind, key) < since || items.length + more === DIGEST_LIMITS.counted) break
      if (!states.has(entry.taskId)) continue
      if (items.length < limit) items.push(entry)
      else more++
    }
    return { items, more }
  }

  return async function digest ({ since, limit }: { since: number, limit: number }): Promise<Digest> {
    const describe = createDigestText(timezone())
    const until = Math.max(clock.now() - SETTLES_MS, 0)
    const tasks = new Map<string, StoredTask>()
    const damaged: string[] = []
    const states = await repository.index.load()
    /** Reads a task once; undefined when it does not exist or is damaged. */
    const taskOf = async (taskId: string): Promise<StoredTask | undefined> => {
      const task = tasks.get(taskId) ?? await repository.find(taskId, () => {
        if (!damaged.includes(taskId)) damaged.push(taskId)
      })
      if (task !== undefined) tasks.set(taskId, task)
      return task
    }
    for (const taskId of states.notFinished()) await taskOf(taskId)
    const all = [...tasks.values()]

    const endedRuns = async (kind: OutcomeKind): Promise<Excerpt<DigestRun>> => {
      const { items, more } = await outcomesSince<RunOutcome>(kind, since, limit, states)
      const runs = await Promise.all(
        items.map(async (pointer) => ({ run: await repository.runById(pointer.runId), task: await taskOf(pointer.taskId) }))
      )
      return {
        items: runs.flatMap(({ run, task }) =>
          run?.completedAt === undefined || task === undefined ? [] : [endedRun(run, run.completedAt, task, describe)]
        ),
        more
      }
    }
    const [completed, failed, stopped] = await Promise.all([endedRuns('completed'), endedRuns('failed'), endedRuns('stopped')])

    const outcomes = await outcomesSince<SlotOutcome>('notRun', since, limit, states)
    const slots = await Promise.all(outcomes.items.map(async ({ taskId, slot }) => ({ task: await taskOf(taskId), slot })))
    const notRun = {
      items: slots.flatMap(({ task, slot }) =>
        task === undefined ? [] : [{ taskId: task.id, goal: shortGoal(task), slot, text: describe.notRun(task, slot) }]
      ),
      more: outcomes.more
    }

    const waits: DigestQuestion[] = []
    const calls: DigestAppCall[] = []
    for (const task of all) {
      for (const item of await ledger.ofTask((task.waitingFor ?? []).map(({ id }) => id))) {
        if (item.kind === 'app') calls.push(appCall(item, task, describe))
        else waits.push(question(item, task, describe))
      }
    }
    for (const item of liveQuestions.ofTask()) {
      const task = await taskOf(item.taskId)
      if (task !== undefined) waits.push(question(item, task, describe))
    }
    const oldestFirst = (a: { createdAt: number }, b: { createdAt: number }) => a.createdAt - b.createdAt
    const waiting = excerpt(waits.sort(oldestFirst), limit)
    const waitingForApp = excerpt(calls.sort(oldestFirst), limit)

    const busy = excerpt(
      all.filter(({ status, liveRun }) => status === 'running' && liveRun !== undefined).sort((a, b) =>
        a.liveRun!.runId < b.liveRun!.runId ? -1 : 1
      ),
      limit
    )
    const live = await Promise.all(busy.items.map(async (task) => ({ task, run: await repository.runById(task.liveRun!.runId) })))
    const working = {
      items: live.flatMap(({ task, run }) => run === undefined ? [] : [{ ...runFields(run, task), text: describe.working(task, run) }]),
      more: busy.more
    }

    const unwell = excerpt(all.filter(isFailing).sort((a, b) => b.health.since! - a.health.since!), limit)
    const failing = {
      items: await Promise.all(unwell.items.map(async (task) => {
        const error = (await repository.runNumbered(task.id, task.totalRuns))?.error
        const { failures, since, nextTryAt } = task.health
        return {
          taskId: task.id,
          goal: shortGoal(task),
          failures,
          since: since!,
          nextTryAt,
          error: error && shorten(error),
          text: describe.failing(task, task.health, error)
        }
      })),
      more: unwell.more
    }

    const ahead = excerpt(
      all.filter(({ status, nextRunAt }) => nextRunAt !== undefined && ['scheduled', 'running', 'pending_approval'].includes(status))
        .sort((a, b) => runsNextAt(a)! - runsNextAt(b)!),
      limit
    )
    const next = {
      items: ahead.items.map((task) => {
        const at = runsNextAt(task)!
        return { taskId: task.id, goal: shortGoal(task), at, text: describe.next(task, at) }
      }),
      more: ahead.more
    }

    const sections = { completed, failed, stopped, notRun, waiting, waitingForApp, working, failing, next }
    return { since, until, text: describe.all(since, sections, damaged), ...sections, ...(damaged.length > 0 && { damaged }) }
  }
}

const isFailing = (task: StoredTask): task is StoredTask & { health: StoredHealth } => task.health?.state === 'failing'

const excerpt = <T>(all: T[], limit: number): Excerpt<T> => ({ items: all.slice(0, limit), more: Math.max(all.length - limit, 0) })

const runFields = ({ runId, runNumber, trigger, status, startedAt }: StoredRun, task: StoredTask) => ({
  taskId: task.id,
  goal: shortGoal(task),
  runId,
  runNumber,
  trigger,
  status,
  startedAt
})

type Describe = ReturnType<typeof createDigestText>

function question (item: TaskApproval, task: StoredTask, describe: Describe): DigestQuestion {
  const { approvalId, kind, toolName, input, cwd, output, questions, reason, createdAt, expiresAt } = questionView(item)
  const texts = questions?.map(({ text }) => text).join(' ')
  const about = shorten({ tool: JSON.stringify(input), result: output, question: texts }[kind] ?? '')
  return {
    taskId: task.id,
    goal: shortGoal(task),
    runId: item.runId,
    approvalId,
    kind,
    toolName,
    cwd,
    reason,
    about,
    createdAt,
    expiresAt,
    text: describe.waiting(task, { kind, toolName, about, reason })
  }
}

function appCall (
  { approvalId: toolCallId, runId, app, toolName, input, state, createdAt, expiresAt }: AppCallItem,
  task: StoredTask,
  describe: Describe
): DigestAppCall {
  const call = { toolName, about: shorten(JSON.stringify(input)), isClaimed: state === 'claimed', app }
  const text = describe.waitingForApp(task, call)
  return { taskId: task.id, goal: shortGoal(task), runId, toolCallId, ...call, createdAt, expiresAt, text }
}

function endedRun (run: StoredRun, completedAt: number, task: StoredTask, describe: Describe): DigestRun {
  const { standsFor, output, error, review, evaluation: { outcome, evidence, judge, claims } = {} } = run
  return {
    ...runFields(run, task),
    completedAt,
    standsFor,
    output: output && shorten(output),
    error: error && shorten(error),
    review,
    outcome,
    evidence,
    judge,
    claims: claims?.slice(0, CLAIMS_SHOWN),
    text: describe.run(task, run)
  }
}

/** Characters shown of a goal. */
const GOAL_SHOWN = 120
/** Characters shown of an output, error or input that stands alone. */
const TEXT_SHOWN = 300
/** Characters shown of such a text within a sentence. */
const QUOTE_SHOWN = 160

const shorten = (text: string, limit = TEXT_SHOWN) => text.length > limit ? `${text.slice(0, limit)}…` : text
const inLine = (text: string, limit = QUOTE_SHOWN) => shorten(text.replace(/\s+/g, ' ').trim(), limit)
const shortGoal = ({ goal }: Pick<StoredTask, 'goal'>) => inLine(goal, GOAL_SHOWN)

const REASONS: Record<string, string> = {
  overlap: 'the run before was still under way',
  late: 'its time was noticed too late, and this schedule has no catch-up run',
  paused: 'the task was paused',
  changed: 'its schedule was changed just then',
  cancelled: 'the task was cancelled just then',
  failing: 'the task is failing, and is tried less often until a run completes'
}
const STOPPED: Partial<Record<StoredRun['status'], string>> = {
  failed: 'failed',
  rejected: 'was rejected',
  cancelled: 'was cancelled',
  interrupted: 'was interrupted'
}

/** Describes the entries of a digest in sentences, with local times of the time zone. */
function createDigestText (timezone: string) {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short', timeStyle: 'short' })
  const time = (at: number) => format.format(at)
  const name = (task: StoredTask) => `“${shortGoal(task)}”`

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

    waiting: (task: StoredTask, { kind, toolName, about, reason }: Pick<DigestQuestion, 'kind' | 'toolName' | 'about' | 'reason'>) =>
      `${name(task)} asks ${{
        tool: `whether it may use ${toolName} with ${inLine(about)}${reason ? ` (${inLine(reason)})` : ''}`,
        result: `whether its result is good: ${inLine(about)}`,
        question: inLine(about)
      }[kind]}`,

    waitingForApp: (
      task: StoredTask,
      { app, toolName, about, isClaimed }: Pick<DigestAppCall, 'app' | 'toolName' | 'about' | 'isClaimed'>
    ) =>
      `${name(task)} waits for ${app === undefined ? 'its application' : `the application ${inLine(app)}`}, which ${
        isClaimed ? 'executes' : 'is to execute'
      } ${toolName} with ${inLine(about)}`,

    working: (task: StoredTask, { runNumber, status, startedAt }: StoredRun) =>
      `Run ${runNumber} of ${name(task)} ${status === 'queued' ? 'waits for its turn' : 'is at work'} since ${time(startedAt)}.`,

    failing: (task: StoredTask, { failures, nextTryAt }: StoredHealth, error?: string) =>
      `${name(task)} has failed ${failures} times in a row${nextTryAt === undefined ? '' : ` and is tried again at ${time(nextTryAt)}`}${
        error ? `; the last time: ${inLine(error)}` : '.'
      }`,

    next: (task: StoredTask, at: number) => `${name(task)} runs at ${time(at)}.`,

    all (
      since: number,
      { completed, failed, stopped, notRun, waiting, waitingForApp, working, failing, next }: Omit<Digest, 'since' | 'until' | 'text'>,
      damaged: string[]
    ) {
      const ran = [counts(completed, 'run', 'completed'), counts(failed, 'run', 'failed'), counts(stopped, 'run', 'stopped')]
        .filter((part) => part !== '')
      return [
        `Since ${time(since)}: ${ran.length > 0 ? ran.join(', ') : 'nothing ran'}.`,
        ...sentence('Passed without a run', counts(notRun, 'planned time')),
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

/** What is to be said of a completed run beside its report. */
function judgementOf ({ judge, outcome, evidence }: Partial<TaskEvaluation> = {}): string {
  if (outcome === 'nothing_to_do') return ' with nothing to do'
  if (outcome === 'partly') return ' in part'
  if (judge === 'none') return ' (not judged)'
  return evidence === 'unchecked' ? ' (not all that it claims could be checked)' : ''
}

/** Returns what ran by a grant, and what was denied beside it; '' for a run without granted calls. */
function grantedCalls (calls: StoredRun['toolCalls']): string {
  const ran = calls.filter(({ grantId }) => grantId !== undefined).length
  const denied = calls.filter(({ status }) => status === 'denied').length
  if (ran === 0) return ''
  return ` (${counted(ran, 'call')} by grant${denied > 0 ? `, ${counted(denied, 'other')} denied` : ''})`
}

const counted = (n: number, thing: string) => `${n} ${thing}${n === 1 ? '' : 's'}`
const sentence = (title: string, text: string) => text === '' ? [] : [`${title}: ${text}.`]

/** Returns "3 runs failed", or "at least 1000 runs failed" where counting stopped; '' for none. */
function counts ({ items, more }: { items: unknown[], more: number }, thing: string, participle = '') {
  const n = items.length + more
  if (n === 0) return ''
  return `${n >= DIGEST_LIMITS.counted ? 'at least ' : ''}${counted(n, thing)}${participle && ` ${participle}`}`
}
