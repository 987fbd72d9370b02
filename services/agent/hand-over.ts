import type { Analysis, RunTask } from '../../schemas/agent.ts'
import type { Task, TaskBody } from '../../schemas/tasks.ts'
import { abortKind } from '../lib/abort.ts'
import type { RunEvent } from '../run-log/run-events.ts'
import { essence } from '../threads/thread-message.ts'
import type { RunAttempt } from '../step/settle-calls.ts'
import type { AgentDeps } from './agent-deps.ts'
import { finish } from './loop.ts'
import type { Run } from './run-repository.ts'

type Deps = AgentDeps & Required<Pick<AgentDeps, 'tasks'>>

const STEP = { step: 1, finishReason: 'stop', usage: { inputTokens: 0, outputTokens: 0 } } as const

/**
 * Makes a background task of the request and answers with what was made, or with the task that it has made before and
 * that is still under way: an answer that is given again makes no second one. Whether the run is over: what the user said to
 * it meanwhile still wants an answer. A client that goes away leaves its task behind; who stops the run stops this, too.
 */
export async function handOverToTask (attempt: RunAttempt, analysis: Analysis, deps: Deps): Promise<boolean> {
  const { live } = attempt
  const { log, head } = live.run
  log.append({ type: 'step-start', step: STEP.step })
  const origin = originOf(live.run)
  const earlier = await deps.tasks.launched(origin)
  const { task, unread } = earlier === undefined ? await make(analysis, head.cwd, wanted(live.signal), origin, deps) : { task: earlier }
  const events: RunEvent[] = [
    { type: 'task', task: shown(task) },
    { type: 'text-start', id: 'task' },
    { type: 'text-delta', id: 'task', delta: inWords(task, { isKnown: earlier !== undefined, unread }) },
    { type: 'text-end', id: 'task' }
  ]
  events.forEach(log.append)
  live.run.head = { ...head, steps: STEP.step }
  const stepFinish: RunEvent = { type: 'step-finish', ...STEP }
  if (!live.isSteered) {
    await finish('stop', stepFinish, attempt, deps)
    return true
  }
  log.append(stepFinish)
  return false
}

/** What the user has said in the conversation, up to what is asked for, and where it is to be done. */
const originOf = ({ head: { threadId, cwd }, messages }: Run) =>
  JSON.stringify([threadId, cwd, ...messages.filter(({ role }) => role === 'user').map(essence)])

/** Aborts as the run does, but not because its client went away. */
function wanted (signal: AbortSignal): AbortSignal {
  const controller = new AbortController()
  const follow = () => {
    if (abortKind(signal.reason) !== 'client') controller.abort(signal.reason)
  }
  if (signal.aborted) follow()
  signal.addEventListener('abort', follow, { once: true })
  return controller.signal
}

/** The task as its interval says; one that cannot be read makes it one that runs once. */
async function make (
  { goal, interval }: Analysis,
  cwd: string,
  signal: AbortSignal,
  origin: string,
  { tasks }: Deps
): Promise<{ task: Task, unread?: string }> {
  const once: TaskBody = { goal, cwd }
  if (interval === undefined) return { task: await tasks.launch(once, signal, origin) }
  try {
    return { task: await tasks.launch({ ...once, taskType: 'recurring', schedule: { interval } }, signal, origin) }
  } catch (error) {
    if ((error as { code?: string }).code !== 'ERR_BAD_SCHEDULE') throw error
    return { task: await tasks.launch(once, signal, origin), unread: interval }
  }
}

const shown = ({ id, goal, taskType, status, schedule, nextRunAt }: Task): RunTask => ({
  taskId: id,
  goal,
  taskType,
  status,
  ...(schedule && { interval: schedule.interval }),
  ...(nextRunAt !== undefined && { nextRunAt })
})

const GOAL_SHOWN = 300

/** What was made, and what its user can do with it. */
function inWords (
  { id, goal, status, schedule, nextRunAt, approval }: Task,
  { isKnown, unread }: { isKnown: boolean, unread?: string }
): string {
  const at = `/tasks/${id}`
  const stands = { pending_approval: 'waiting for your approval', paused: `paused, until POST ${at}/resume` }[status as string] ?? status
  const short = goal.length > GOAL_SHOWN ? `${goal.slice(0, GOAL_SHOWN)}…` : goal
  return [
    isKnown
      ? `There is a background task of this already: “${short}”. Its id is ${id}, and it is ${stands}.`
      : `I made a background task of this: “${short}”. Its id is ${id}.`,
    schedule
      ? `It runs by its schedule, “${schedule.interval}”${
        nextRunAt === undefined ? '' : `, next on ${localTime(nextRunAt)}`
      }. POST ${at}/run runs it at once.`
      : isKnown
        ? 'It runs once.'
        : 'It is running now, once.',
    ...(unread === undefined
      ? []
      : [
        `I could not read “${
          unread.slice(0, GOAL_SHOWN)
        }” as a schedule, so it does not repeat. For one that does: POST /tasks with {"goal": "…", "taskType": "recurring", "schedule": {"interval": "daily at 9am"}}.`
        ]),
    [
      `- Watch it: GET /tasks/events tells what happens, GET ${at} how it stands, GET ${at}/runs what its runs did.`,
      `- Steer it: POST ${at}/steer with {"comment": "…"}; its next run hears it.`,
      `- Approve it: ${asks(approval)} POST ${at}/approve with {"approved": true} or false.`,
      `- Stop it: POST ${at}/pause, /cancel, or DELETE ${at}.`
    ].join('\n')
  ].join('\n\n')
}

const asks = ({ mode, firstN }: Task['approval']) =>
  mode === 'first_n'
    ? `until you have approved ${
      firstN === 1 ? 'a run' : `${firstN} runs`
    }, it asks before tools that change something and for each result.`
    : mode === 'always'
      ? 'it asks before tools that change something and for each result.'
      : 'it asks nothing.'

/** As a clock on this machine would show it. */
function localTime (at: number): string {
  const date = new Date(at)
  return `${date.toDateString()} at ${date.toTimeString().slice(0, 5)}`
}
