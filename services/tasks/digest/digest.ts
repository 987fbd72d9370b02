import { DIGEST_LIMITS, type Digest, type DigestAppCall, type DigestQuestion, type DigestRun } from '../../../schemas/digest.ts'
import type { Clock } from '../../lib/clock.ts'
import { outcomePrefix, outcomeTime, type Store } from '../../store/index.ts'
import { type Ledger, type LiveQuestions, questionView } from '../../approvals/index.ts'
import type { TaskRepository } from '../task-repository.ts'
import { createDigestText, shortGoal, shorten } from './digest-text.ts'
import { type OutcomeKind, type RunOutcome, type SlotOutcome } from '../schedule/outcomes.ts'
import type { AppCallItem, TaskApproval } from '../../contracts/approval-record.ts'
import type { TaskStates } from '../state-index.ts'
import type { StoredRun, StoredTask } from '../task-records.ts'

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
 * that it shows, which the outcome index in `scheduling/outcomes.ts` finds. It reads no other run or finished task.
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

    const halted = excerpt(
      all.filter(({ status, pausedReason }) => status === 'paused' && pausedReason !== undefined && pausedReason !== 'user').sort((a, b) =>
        b.lastRunAt! - a.lastRunAt!
      ),
      limit
    )
    const paused = {
      items: await Promise.all(halted.items.map(async (task) => {
        const error = (await repository.runNumbered(task.id, task.totalRuns))?.error
        return {
          taskId: task.id,
          goal: shortGoal(task),
          reason: task.pausedReason!,
          at: task.lastRunAt!,
          ...(error !== undefined && { error: shorten(error) }),
          text: describe.paused(task, error)
        }
      })),
      more: halted.more
    }

    const ahead = excerpt(
      all.filter(({ status, nextRunAt }) => nextRunAt !== undefined && ['scheduled', 'running', 'pending_approval'].includes(status)).sort((
        a,
        b
      ) => a.nextRunAt! - b.nextRunAt!),
      limit
    )
    const next = {
      items: ahead.items.map((task) => ({
        taskId: task.id,
        goal: shortGoal(task),
        at: task.nextRunAt!,
        text: describe.next(task, task.nextRunAt!)
      })),
      more: ahead.more
    }

    const sections = { completed, failed, stopped, notRun, waiting, waitingForApp, working, paused, next }
    return { since, until, text: describe.all(since, sections, damaged), ...sections, ...(damaged.length > 0 && { damaged }) }
  }
}

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
    ...(toolName !== undefined && { toolName }),
    ...(cwd !== undefined && { cwd }),
    ...(reason !== undefined && { reason }),
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
  const call = { toolName, about: shorten(JSON.stringify(input)), isClaimed: state === 'claimed', ...(app !== undefined && { app }) }
  const text = describe.waitingForApp(task, call)
  return { taskId: task.id, goal: shortGoal(task), runId, toolCallId, ...call, createdAt, expiresAt, text }
}

function endedRun (run: StoredRun, completedAt: number, task: StoredTask, describe: Describe): DigestRun {
  const { standsFor, output, error, evaluation: { outcome, evidence, judge, claims } = {} } = run
  return {
    ...runFields(run, task),
    completedAt,
    ...(standsFor !== undefined && { standsFor }),
    ...(output !== undefined && { output: shorten(output) }),
    ...(error !== undefined && { error: shorten(error) }),
    ...(outcome && { outcome }),
    ...(evidence && { evidence }),
    ...(judge && { judge }),
    ...(claims && { claims: claims.slice(0, CLAIMS_SHOWN) }),
    text: describe.run(task, run)
  }
}
