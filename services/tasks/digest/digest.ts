import {
  DIGEST_LIMITS,
  type Digest,
  type DigestAppCall,
  type DigestOfTask,
  type DigestQuestion,
  type DigestRequest,
  type DigestRun,
  type DigestSeen,
  type DigestSeenBody
} from '../../../schemas/digest.ts'
import type { Clock } from '../../lib/clock.ts'
import { createKeyedLock } from '../../lib/keyed-lock.ts'
import { defineError } from '../../lib/service-error.ts'
import { digestSeenKey, outcomePrefix, outcomeTime, type Store, unlessDamaged } from '../../store/index.ts'
import { type ChatParts, chatsSince } from './chats.ts'
import { unaskedOf } from './unasked.ts'
import { createDigestText, type DigestText, shorten, shortGoal } from './digest-text.ts'
import { type DeniedCall, deniedCalls, type MissingGrant, once, type Outcomes, outcomesByTask, type TaskOutcomes } from './by-task.ts'
import { type AcceptedRehearsal, departures } from '../rehearsal/departures.ts'
import { type Ledger, type LiveQuestions, questionView } from '../../approvals/index.ts'
import type { ToolHost } from '../../tools/index.ts'
import type { TaskRepository } from '../task-repository.ts'
import type { FiringOutcome, OutcomeKind, RunOutcome, SlotOutcome } from '../schedule/outcomes.ts'
import { type AppCallItem, isUnanswered, type TaskApproval } from '../../contracts/approval-record.ts'
import type { TaskStates } from '../task-index.ts'
import { runsNextAt } from '../task-health.ts'
import { nameOfTask } from '../../lib/short-name.ts'
import type { StoredHealth, StoredRun, StoredTask } from '../task-records.ts'

/** The digest covers the time up to this many milliseconds ago, because the outcomes of the last moments might not be stored yet. */
const SETTLES_MS = 1_000

/** The most claims shown for each run. */
const CLAIMS_SHOWN = 5

/** The most entries that are read of the outcome index, for each kind of outcome. */
const MOST_SCANNED = 20_000
/** For a reader without a stored position, the digest begins this many milliseconds ago. */
const FIRST_MS = 24 * 60 * 60 * 1000

const NoBeginning = defineError(
  'ERR_BAD_REQUEST',
  'Give "since", or the "client" whose place POST /tasks/digest/seen has noted: the digest needs a beginning.'
)

/** The position of a reader: everything before `until` is seen. `at` is when the reader reported it. Milliseconds since the Unix epoch. */
interface SeenUntil {
  until: number
  at: number
  /** Positions in single tasks and conversations, by id, where they are later than `until`. */
  of?: Record<string, number>
}

/** The most positions in single tasks and conversations stored for one reader; the latest are kept. */
const MOST_SEEN = 1_000

/** When a digest begins (`since`), and when its part about the task or conversation with an id begins (`sinceOf`). */
interface Begin {
  since: number
  sinceOf: (id: string) => number
}
const beginAt = (since: number, of: Record<string, number> = {}): Begin => ({ since, sinceOf: (id) => Math.max(since, of[id] ?? 0) })

/** The first items of a list, and the number of further items. */
interface Excerpt<T> {
  items: T[]
  more: number
}

/**
 * Creates the service that summarizes what the tasks did since a given time. The digest reads each unfinished task once, the live runs,
 * and the past runs that it shows, which it finds in the outcome index (`schedule/outcomes.ts`). It reads no other runs or finished tasks.
 */
export function createDigest (
  { repository, ledger, liveQuestions, store, clock, timezone, missingGrant, accepted, tools, chats }: {
    repository: TaskRepository,
    ledger: Ledger,
    liveQuestions: Pick<LiveQuestions, 'ofTask'>,
    store: Store,
    clock: Clock,
    timezone: () => string,
    /** Returns the grant that would have allowed a call. */
    missingGrant: (task: StoredTask, call: DeniedCall) => Promise<MissingGrant>,
    /** Returns the newest rehearsal of the task with accepted lines. */
    accepted: (task: StoredTask) => Promise<AcceptedRehearsal | undefined>,
    tools: Pick<ToolHost, 'say' | 'identity' | 'permission'>
    chats: Pick<ChatParts, 'threads' | 'runs' | 'grants'>
  }
) {
  const locked = createKeyedLock()
  const parts = { ...chats, ledger, tools }

  /**
   * Returns the outcomes of one kind since `since`, newest first, without those of deleted tasks. Runs with nothing to do are only counted.
   */
  async function outcomesSince<T extends { taskId: string, nothing?: true }> (
    kind: OutcomeKind,
    { since, sinceOf }: Begin,
    states: TaskStates
  ): Promise<Outcomes<T>> {
    const found: Outcomes<T> = { entries: [], nothing: new Map() }
    let scanned = 0
    for await (const [key, entry] of store.list<T>(outcomePrefix(kind), { reverse: true, damaged () {} })) {
      const at = outcomeTime(kind, key)
      if (at < since || found.entries.length === DIGEST_LIMITS.counted || ++scanned > MOST_SCANNED) break
      if (!states.has(entry.taskId) || at < sinceOf(entry.taskId)) continue
      if (entry.nothing) found.nothing.set(entry.taskId, (found.nothing.get(entry.taskId) ?? 0) + 1)
      else found.entries.push({ ...entry, at })
    }
    return found
  }

  /**
   * Returns the time at which the digest for a request begins. Throws NoBeginning (400) if the request has neither `since` nor `client`.
   */
  async function beginOf ({ since, client }: Pick<DigestRequest, 'since' | 'client'>): Promise<Begin> {
    if (since !== undefined) return beginAt(since)
    if (client === undefined) throw new NoBeginning()
    const { until, of } = await seenBy(client, firstOf())
    return beginAt(until, of)
  }

  const firstOf = () => Math.max(clock.now() - FIRST_MS, 0)
  const seenBy = async (client: string, first: number): Promise<Pick<SeenUntil, 'until' | 'of'>> =>
    await unlessDamaged(store.get<SeenUntil>(digestSeenKey(client))) ?? { until: first }

  async function digest ({ limit, ...query }: DigestRequest): Promise<Digest> {
    const begin = await beginOf(query)
    const { since } = begin
    const describe = createDigestText(timezone())
    const until = Math.max(clock.now() - SETTLES_MS, 0)
    const tasks = new Map<string, StoredTask>()
    const damaged: string[] = []
    const states = await repository.index.load()
    /** Reads a task, or takes it from the cache; undefined if it does not exist or is damaged. */
    const taskOf = async (taskId: string): Promise<StoredTask | undefined> => {
      const task = tasks.get(taskId) ?? await repository.find(taskId, () => {
        if (!damaged.includes(taskId)) damaged.push(taskId)
      })
      if (task !== undefined) tasks.set(taskId, task)
      return task
    }
    for (const taskId of states.notFinished()) await taskOf(taskId)
    const all = [...tasks.values()]
    /**
     * Returns the first `limit` entries in their public form, and the number of further entries. `shown` returns one
     * item for an entry, or none.
     */
    const listOf = async <E, T>(entries: E[], shown: (entry: E) => Promise<T[]>): Promise<Excerpt<T>> => {
      const { items, more } = excerpt(entries, limit)
      return { items: (await Promise.all(items.map(shown))).flat(), more }
    }

    const runs = new Map<string, Promise<StoredRun | undefined>>()
    /** Reads a run, or takes it from the cache; undefined if it does not exist or is damaged. */
    const runOf = (runId: string) => {
      const run = runs.get(runId) ?? repository.runById(runId)
      runs.set(runId, run)
      return run
    }
    const shownRun = async ({ runId, taskId }: RunOutcome): Promise<DigestRun[]> => {
      const [run, task] = [await runOf(runId), await taskOf(taskId)]
      if (run?.completedAt === undefined || task === undefined) return []
      return [{ ...endedRun(run, run.completedAt, task, describe), unasked: await unaskedOf(run, parts), ...await differences(run, task) }]
    }
    const sheets = new Map<string, ReturnType<typeof accepted>>()
    /** Returns how the run departed from the accepted rehearsal; {} if the task has none. */
    const differences = async (run: StoredRun, task: StoredTask): Promise<Pick<DigestRun, 'differs' | 'rehearsalVoid'>> => {
      const found = sheets.get(task.id) ?? accepted(task)
      sheets.set(task.id, found)
      const sheet = await found
      if (sheet === undefined) return {}
      const denied = await deniedCalls(run, (id) => unlessDamaged(repository.events(id)))
      const asked = (await ledger.ofTask(run.asked)).flatMap((item) => item.kind === 'tool' ? [item] : [])
      return departures(run, sheet, { asked, denied, tools })
    }
    const [ofCompleted, ofFailed, ofStopped, ofSlots, ofFirings] = await Promise.all([
      outcomesSince<RunOutcome>('completed', begin, states),
      outcomesSince<RunOutcome>('failed', begin, states),
      outcomesSince<RunOutcome>('stopped', begin, states),
      outcomesSince<SlotOutcome>('notRun', begin, states),
      outcomesSince<FiringOutcome>('fired', begin, states)
    ])
    const endedRuns = ({ entries }: Outcomes<RunOutcome>) => listOf(entries, shownRun)
    const [completed, failed, stopped] = await Promise.all([ofCompleted, ofFailed, ofStopped].map(endedRuns))
    const nothingToDo = [...ofCompleted.nothing.values()].reduce((sum, n) => sum + n, 0)

    const notRun = await listOf(ofSlots.entries, async ({ taskId, slot }) => {
      const task = await taskOf(taskId)
      return task === undefined ? [] : [{ ...named(task), slot, text: describe.notRun(task, slot) }]
    })
    const fired = await listOf(ofFirings.entries, async ({ taskId, firing }) => {
      const task = await taskOf(taskId)
      return task === undefined ? [] : [{ ...named(task), firing, text: describe.fired(task, firing) }]
    })

    /** Returns the entry of the digest about one task; [] if the task is gone. */
    async function ofTask ({ taskId, shown, more, nothing, denied, passed }: TaskOutcomes): Promise<DigestOfTask[]> {
      const task = await taskOf(taskId)
      if (task === undefined) return []
      const deniedIn = async ({ runId }: RunOutcome) => {
        const run = await runOf(runId)
        return run === undefined ? [] : deniedCalls(run, (id) => unlessDamaged(repository.events(id)))
      }
      const calls = (await Promise.all(denied.map(deniedIn))).flat()
      const items = (await Promise.all(shown.map(shownRun))).flat()
      const deniedOnce = await Promise.all(once(calls).map(async ({ call, count }) => {
        const missing = await missingGrant(task, call)
        const { runId, toolName, input } = call
        const { about, text } = tools.say({ toolName, input })
        return { runId, toolName, about, count, ...missing, text: describe.denied({ call: text, count, ...missing }) }
      }))
      return [{
        ...named(task),
        runs: { items, more },
        nothingToDo: nothing,
        denied: deniedOnce,
        passed: passed.map((slot) => {
          const { fate, reason, count = 1, from = slot.at, at } = slot
          return { fate, reason, count, from, at, text: describe.notRun(task, slot) }
        }),
        text: describe.task(task, { runs: items.length + more, nothing, denied: deniedOnce.length, passed })
      }]
    }
    const byTask = await listOf(outcomesByTask({ runs: [ofFailed, ofCompleted, ofStopped], slots: ofSlots }), ofTask)

    const waits: DigestQuestion[] = []
    const calls: DigestAppCall[] = []
    for (const task of all) {
      for (const item of await ledger.ofTask((task.waitingFor ?? []).map(({ id }) => id))) {
        if (!isUnanswered(item)) continue
        if (item.kind === 'app') calls.push(appCall(item, task, describe, tools.say))
        else waits.push(question(item, task, describe, tools.say))
      }
    }
    for (const item of liveQuestions.ofTask()) {
      const task = await taskOf(item.taskId)
      if (task !== undefined) waits.push(question(item, task, describe, tools.say))
    }
    const oldestFirst = (a: { createdAt: number }, b: { createdAt: number }) => a.createdAt - b.createdAt
    const waiting = excerpt(waits.sort(oldestFirst), limit)
    const waitingForApp = excerpt(calls.sort(oldestFirst), limit)

    const busy = all.filter(({ status, liveRun, retryAt }) => (status === 'running' || retryAt !== undefined) && liveRun !== undefined)
      .sort((a, b) => a.liveRun!.runId < b.liveRun!.runId ? -1 : 1)
    const working = await listOf(busy, async (task) => {
      const run = await runOf(task.liveRun!.runId)
      return run === undefined ? [] : [{ ...runFields(run, task), text: describe.working(task, run) }]
    })

    const unwell = all.filter(isFailing).sort((a, b) => b.health.since! - a.health.since!)
    const failing = await listOf(unwell, async (task) => {
      const error = (await repository.runNumbered(task.id, task.totalRuns))?.error
      const { failures, since, nextTryAt } = task.health
      const text = describe.failing(task, task.health, error)
      return [{ ...named(task), failures, since: since!, nextTryAt, error: error && shorten(error), text }]
    })

    const ahead = all.filter((task) =>
      runsNextAt(task) !== undefined && ['scheduled', 'running', 'pending_approval'].includes(task.status)
    ).sort((a, b) => runsNextAt(a)! - runsNextAt(b)!)
    const next = await listOf(ahead, async (task) => {
      const at = runsNextAt(task)!
      return [{ ...named(task), at, text: describe.next(task, at) }]
    })

    const ofChats = await chatsSince(since, begin.sinceOf, parts)
    const answered = ofChats.filter(({ status }) => status === 'completed').length
    const past = { tasks: byTask, chats: excerpt(ofChats, limit), nothingToDo, completed, failed, stopped, notRun, fired }
    const sections = { ...past, waiting, waitingForApp, working, failing, next }
    const text = describe.all(since, { ...sections, answered }, damaged)
    return { since, until, text, ...sections, ...(damaged.length > 0 && { damaged }) }
  }

  return {
    digest,

    /**
     * Stores the time up to which a reader has seen the digest, or its part about one task or conversation. The position never moves back.
     */
    seen: ({ client, until: named, taskId, threadId }: DigestSeenBody): Promise<DigestSeen> =>
      locked(client, async () => {
        // If the clock of the reader is ahead, future entries must not count as seen.
        const until = Math.min(named, clock.now())
        const { until: before, of = {} } = await seenBy(client, 0)
        const id = taskId ?? threadId
        const all = id === undefined ? Math.max(before, until) : before || firstOf()
        const single = id === undefined ? of : { ...of, [id]: Math.max(of[id] ?? 0, until) }
        const later = Object.entries(single).filter(([, each]) => each > all).sort(([, one], [, other]) => other - one).slice(0, MOST_SEEN)
        const seen = { until: all, at: clock.now(), ...later.length > 0 && { of: Object.fromEntries(later) } } satisfies SeenUntil
        await store.transact([{ type: 'put', key: digestSeenKey(client), value: seen }])
        return { client, until: id === undefined ? all : Math.max(all, single[id]) }
      })
  }
}

/** Returns the fields that identify a task in a list. */
const named = (task: StoredTask) => ({ taskId: task.id, name: nameOfTask(task), goal: shortGoal(task) })

const isFailing = (task: StoredTask): task is StoredTask & { health: StoredHealth } => task.health?.state === 'failing'

const excerpt = <T>(all: T[], limit: number): Excerpt<T> => ({ items: all.slice(0, limit), more: Math.max(all.length - limit, 0) })

const runFields = ({ runId, runNumber, trigger, status, startedAt }: StoredRun, task: StoredTask) => ({
  ...named(task),
  runId,
  runNumber,
  trigger,
  status,
  startedAt
})

function question (item: TaskApproval, task: StoredTask, describe: DigestText, say: ToolHost['say']): DigestQuestion {
  const { approvalId, kind, toolName, input, cwd, output, questions, reason, createdAt, expiresAt } = questionView(item)
  const texts = questions?.map(({ text }) => text).join(' ')
  const call = toolName === undefined ? undefined : say({ toolName, input })
  const about = shorten({ tool: call?.about, result: output, question: texts }[kind] ?? '')
  return {
    ...named(task),
    runId: item.runId,
    approvalId,
    kind,
    toolName,
    cwd,
    reason,
    about,
    createdAt,
    expiresAt,
    text: describe.waiting(task, { kind, about, reason, call: call?.text })
  }
}

function appCall (
  { approvalId: toolCallId, runId, app, toolName, input, state, createdAt, expiresAt }: AppCallItem,
  task: StoredTask,
  describe: DigestText,
  say: ToolHost['say']
): DigestAppCall {
  const { about, text: said } = say({ toolName, input })
  const call = { toolName, about, isClaimed: state === 'claimed', app }
  const text = describe.waitingForApp(task, { ...call, call: said })
  return { ...named(task), runId, toolCallId, ...call, createdAt, expiresAt, text }
}

function endedRun (run: StoredRun, completedAt: number, task: StoredTask, describe: DigestText): Omit<DigestRun, 'unasked'> {
  const { standsFor, output, error, review, facts, evaluation: { outcome, evidence, judge, verified, claims } = {} } = run
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
    verified,
    facts,
    claims: claims?.slice(0, CLAIMS_SHOWN),
    text: describe.run(task, run)
  }
}
