import type { Analysis } from '../../schemas/agent.ts'
import type { Task } from '../../schemas/tasks.ts'
import { BadSchedule } from '../calendar/index.ts'
import { asRunTask, type ReadTime } from '../contracts/task-control.ts'
import { abortKind } from '../lib/abort.ts'
import type { EventOf, RunEvent } from '../contracts/run-events.ts'
import { canonicalContent } from '../threads/index.ts'
import { noUsage } from '../usage/index.ts'
import type { Run, ThreadRun } from '../runs/index.ts'
import type { ConversationAttempt } from './conversation-state.ts'
import type { AgentDeps } from './agent-deps.ts'
import { finish } from './end-run.ts'
import { heardTime } from './heard-time.ts'
import { settingsOfTask } from './run-settings.ts'

type Deps = AgentDeps & Required<Pick<AgentDeps, 'tasks'>> & {
  /** The request has files, which a task cannot read. */
  hasFiles: boolean
}

const NO_FILES = 'I made no task, because a task cannot read the attached files. Save them on this computer, and say where they are.'

const STEP_FINISH: EventOf<'step-finish'> = { type: 'step-finish', step: 1, finishReason: 'stop', usage: noUsage() }

/**
 * Launches a background task for the request and answers with a description of it, or asks when it is to be done if that could not be
 * read; nothing is launched then. If the same request launched a task that
 * is still active, the answer describes that task, so that a regenerated answer launches no second one. Resolves to false if
 * steering arrived meanwhile: the run must then continue and answer it. A disconnected client does not cancel the
 * launch; stopping the run does.
 */
export async function handOverToTask (attempt: ConversationAttempt, analysis: Analysis, deps: Deps): Promise<boolean> {
  const { live } = attempt
  const { log } = live.run
  log.append({ type: 'step-start', step: STEP_FINISH.step })
  const origin = originOf(live.run)
  const earlier = await deps.tasks.launched(origin)
  const made = earlier === undefined
    ? await launchTask(analysis, live.run, ignoringDisconnect(live.signal), origin, deps)
    : { task: earlier, time: await deps.tasks.readWhen(heardTime(analysis)).catch(() => undefined) }
  const events: RunEvent[] = [
    ...made.task === undefined ? [] : [{ type: 'task' as const, task: asRunTask(made.task, made.time, { isNew: true }) }],
    { type: 'text-start', id: 'task' },
    { type: 'text-delta', id: 'task', delta: made.task ? describeTask(made.task, { isKnown: earlier !== undefined }) : made.question },
    { type: 'text-end', id: 'task' }
  ]
  events.forEach(log.append)
  live.run.record = { ...live.run.record, steps: STEP_FINISH.step }
  log.append(STEP_FINISH)
  if (!await live.endUnlessSteered()) return false
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

/** Launches the task at the time that was heard. Without a time it runs at once; if its time is in doubt, nothing is launched. */
async function launchTask (
  analysis: Analysis,
  run: Run<ThreadRun>,
  signal: AbortSignal,
  origin: string,
  { tasks, host, hasFiles }: Deps
): Promise<{ task: Task, time?: ReadTime } | { task?: undefined, question: string }> {
  if (hasFiles) return { question: NO_FILES }
  const { threadId } = run.record
  try {
    const read = await tasks.readWhen(heardTime(analysis))
    if (read?.everyMs !== undefined && !isConfirmed(run)) return { question: confirmationOf(read.words, read.everyMs) }
    const body = { goal: analysis.goal, ...settingsOfTask(run.record, host), ...(read && { schedule: read.schedule }) }
    return { task: await tasks.launch(body, signal, { threadId, origin, said: origin }), ...(read && { time: read }) }
  } catch (error) {
    if (!(error instanceof BadSchedule)) throw error
    return { question: `I did nothing and made no task, because I am not sure when you want it. ${error.message}` }
  }
}

/** The end of a question whose answer begins with "yes". */
const CONFIRM = 'If you mean it, say it once more and begin with “yes”.'

const confirmationOf = (words: string, everyMs: number) =>
  `I made no task yet: ${words} is ${Math.round(86_400_000 / everyMs).toLocaleString('en')} runs a day. ${CONFIRM}`

/** Whether the user was asked to confirm just before, and says yes. */
function isConfirmed ({ messages }: Run<ThreadRun>): boolean {
  const [asked, answer] = messages.slice(-2).map((message) => JSON.stringify(message))
  return messages.length > 1 && asked.includes(CONFIRM) && /"(?:content|text)":"\s*yes\b/i.test(answer)
}

/** Characters of the goal in the answer. */
const GOAL_SHOWN = 300

/** Describes the task, and what the user can do with it. */
function describeTask (
  { id, goal, status, schedule, scheduleWords, nextRunAt, approval }: Task,
  { isKnown }: { isKnown: boolean }
): string {
  const state = { pending_approval: 'waiting for your approval' }[status as string] ?? status
  const short = goal.length > GOAL_SHOWN ? `${goal.slice(0, GOAL_SHOWN)}…` : goal
  return [
    isKnown
      ? `There is a background task of this already: “${short}”. Its id is ${id}, and it is ${state}.`
      : `I made a background task of this: “${short}”. Its id is ${id}.`,
    schedule
      ? `It runs ${scheduleWords}${schedule.timezone === undefined ? '' : ` (${schedule.timezone})`}${
        nextRunAt === undefined || schedule.interval === undefined ? '' : `, next on ${localTime(nextRunAt)}`
      }.`
      : isKnown
        ? 'It runs once.'
        : 'It is running now, once.',
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

/** Formats a time, in milliseconds since the Unix epoch, in the time zone of this machine: "Mon Nov 30 2026 at 09:00". */
function localTime (at: number): string {
  const date = new Date(at)
  return `${date.toDateString()} at ${date.toTimeString().slice(0, 5)}`
}
