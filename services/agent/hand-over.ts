import type { Analysis, RunTask } from '../../schemas/agent.ts'
import type { Task, TaskBody } from '../../schemas/tasks.ts'
import { abortKind } from '../lib/abort.ts'
import type { EventOf, RunEvent } from '../contracts/run-events.ts'
import { canonicalContent } from '../threads/index.ts'
import { noUsage } from '../usage/index.ts'
import type { Run, ThreadRun } from '../runs/index.ts'
import type { ConversationAttempt } from './conversation-attempt.ts'
import type { AgentDeps } from './agent-deps.ts'
import { finish } from './end-run.ts'

type Deps = AgentDeps & Required<Pick<AgentDeps, 'tasks'>>

const STEP_FINISH: EventOf<'step-finish'> = { type: 'step-finish', step: 1, finishReason: 'stop', usage: noUsage() }

/**
 * Launches a background task for the request and answers with a description of it. If the same request launched a task that
 * is still active, the answer describes that task, so that a regenerated answer launches no second one. Resolves to false if
 * steering arrived meanwhile: the run must then continue and answer it. A disconnected client does not cancel the
 * launch; stopping the run does.
 */
export async function handOverToTask (attempt: ConversationAttempt, analysis: Analysis, deps: Deps): Promise<boolean> {
  const { live } = attempt
  const { log, record } = live.run
  log.append({ type: 'step-start', step: STEP_FINISH.step })
  const origin = originOf(live.run)
  const earlier = await deps.tasks.launched(origin)
  const { task, badInterval } = earlier === undefined
    ? await launchTask(analysis, record, ignoringDisconnect(live.signal), origin, deps)
    : { task: earlier }
  const events: RunEvent[] = [
    { type: 'task', task: taskView(task) },
    { type: 'text-start', id: 'task' },
    { type: 'text-delta', id: 'task', delta: describeTask(task, { isKnown: earlier !== undefined, badInterval }) },
    { type: 'text-end', id: 'task' }
  ]
  events.forEach(log.append)
  live.run.record = { ...record, steps: STEP_FINISH.step }
  log.append(STEP_FINISH)
  if (live.isSteered) return false
  await finish(attempt, deps)
  return true
}

/** Identifies the request: the thread, the working folder and the user's messages up to the request. */
const originOf = ({ record: { threadId, cwd }, messages }: Run<ThreadRun>) =>
  JSON.stringify([threadId, cwd, ...messages.filter(({ role }) => role === 'user').map(canonicalContent)])

/** Returns a signal that aborts with the run, except when the client disconnected. */
function ignoringDisconnect (signal: AbortSignal): AbortSignal {
  const controller = new AbortController()
  const forward = () => {
    if (abortKind(signal.reason) !== 'client') controller.abort(signal.reason)
  }
  if (signal.aborted) forward()
  signal.addEventListener('abort', forward, { once: true })
  return controller.signal
}

/** Launches the task with the interval of the analysis. If the interval cannot be parsed, the task runs once. */
async function launchTask (
  { goal, interval }: Analysis,
  { cwd, options }: Pick<ThreadRun, 'cwd' | 'options'>,
  signal: AbortSignal,
  origin: string,
  { tasks }: Deps
): Promise<{ task: Task, badInterval?: string }> {
  const once: TaskBody = { goal, cwd, ...(options && { options }) }
  if (interval === undefined) return { task: await tasks.launch(once, signal, origin) }
  try {
    return { task: await tasks.launch({ ...once, taskType: 'recurring', schedule: { interval } }, signal, origin) }
  } catch (error) {
    if ((error as { code?: string }).code !== 'ERR_BAD_SCHEDULE') throw error
    return { task: await tasks.launch(once, signal, origin), badInterval: interval }
  }
}

const taskView = ({ id, goal, taskType, status, schedule, nextRunAt }: Task): RunTask => ({
  taskId: id,
  goal,
  taskType,
  status,
  ...(schedule && { interval: schedule.interval }),
  ...(nextRunAt !== undefined && { nextRunAt })
})

/** Characters of the goal, and of an interval that cannot be parsed, in the answer. */
const GOAL_SHOWN = 300

/** Describes the task, and what the user can do with it. */
function describeTask (
  { id, goal, status, schedule, nextRunAt, approval }: Task,
  { isKnown, badInterval }: { isKnown: boolean, badInterval?: string }
): string {
  const state = { pending_approval: 'waiting for your approval' }[status as string] ?? status
  const short = goal.length > GOAL_SHOWN ? `${goal.slice(0, GOAL_SHOWN)}…` : goal
  return [
    isKnown
      ? `There is a background task of this already: “${short}”. Its id is ${id}, and it is ${state}.`
      : `I made a background task of this: “${short}”. Its id is ${id}.`,
    schedule
      ? `It runs by its schedule, “${schedule.interval}”${
        nextRunAt === undefined ? '' : `, next on ${localTime(nextRunAt)}`
      }.`
      : isKnown
        ? 'It runs once.'
        : 'It is running now, once.',
    ...(badInterval === undefined
      ? []
      : [
        `I could not read “${badInterval.slice(0, GOAL_SHOWN)}” as a schedule, so it does not repeat. For one that does, say a ` +
        'time such as “daily at 9am”.'
        ]),
    `${describeApprovalMode(approval)} Among your tasks you can watch it, tell it something, run it at once, pause it and delete it.`
  ].join('\n\n')
}

function describeApprovalMode ({ mode, firstN }: Task['approval']): string {
  const runs = firstN === 1 ? 'a run' : `${firstN} runs`
  switch (mode) {
    case 'changes':
      return `Until you have approved ${runs} that changed something, it asks before each change and for the result.`
    case 'first_n':
      return `Until you have approved ${runs}, it asks before each change and for each result.`
    case 'always':
      return 'It asks before each change and for each result.'
    case 'granted':
    case 'never':
      return 'It asks nothing.'
  }
}

/** Formats a time in the time zone of this machine. */
function localTime (at: number): string {
  const date = new Date(at)
  return `${date.toDateString()} at ${date.toTimeString().slice(0, 5)}`
}
