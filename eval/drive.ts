import { cancelTask, createTask, getRun, listRuns, startTask } from '../client/index.ts'
import type { Agent, Answers, Handlers, RunOptions, TaskBody } from '../client/index.ts'
import { snapshotOf } from './folder.ts'
import { isApproved } from './approvals.ts'
import type { Goal, Outcome, Reply } from './goal.ts'

/** A goal in progress: the agent that is asked, and the messages so far. */
export interface Drive {
  goal: Goal
  agent: Agent
  /** The path of the working folder. */
  folder: string
  /** The address of the goal's web server, if it has one. */
  site: string
  signal: AbortSignal
  said: Pick<Outcome, 'answers' | 'turns' | 'object' | 'approvals' | 'questions'>
}

const ENDED = ['completed', 'rejected', 'failed', 'cancelled', 'interrupted', 'pending_approval']
const WAIT_MS = 60_000

/**
 * Sends the user's messages, each after the answer to the one before. Rejects with the error of a failed run; no further message is sent
 * then.
 */
export async function converse ({ goal, agent, folder, site, signal, said }: Drive, limits: RunOptions) {
  const { says = [], tools, schema, replies } = goal
  let id: string | undefined
  const say = async (prompt: string) => {
    const run = agent.run<unknown>({
      prompt,
      cwd: folder,
      ...id !== undefined && { id },
      ...tools && { tools },
      ...schema && { schema },
      options: { ...limits, ...goal.options },
      ...handlersOf(goal, folder, said),
      signal
    })
    const { text, object, threadId } = await run.result()
    id = threadId
    said.answers.push(text)
    said.turns.push(snapshotOf(folder))
    if (object !== undefined) said.object = object
    return text
  }

  for (const turn of says) {
    if (typeof turn !== 'string') id = undefined
    const asked = said.questions.length
    const text = await say((typeof turn === 'string' ? turn : turn.anew).replaceAll('{site}', site))
    // A question at the end of an answer counts as a question, too.
    if (replies === undefined || said.questions.length > asked || !/[?？]\s*$/.test(text)) continue
    said.questions.push(text)
    await say(replies.say)
  }
}

/** Returns the handlers that answer for the user and record the requests. */
function handlersOf (
  { approve = 'inside', replies, options }: Goal,
  folder: string,
  said: Drive['said']
): Pick<Handlers, 'approve' | 'ask'> {
  return {
    approve ({ toolName, input }) {
      const approved = isApproved(approve, { toolName, input }, folder)
      said.approvals.push({ tool: toolName, input, approved })
      return approved || { approved, reason: 'The user does not allow it.' }
    },
    ...options?.interactive !== false && {
      ask ({ questions }) {
        said.questions.push(...questions.map(({ text }) => text))
        return replies === undefined ? false : answersTo(questions, replies)
      }
    }
  }
}

type Questions = Parameters<NonNullable<Handlers['ask']>>[0]['questions']

const answersTo = (questions: Questions, { choose, say }: Reply): Answers =>
  Object.fromEntries(questions.map(({ id, options = [] }) =>
    [id, options.find(({ value, label }) => choose.test(value) || choose.test(label))?.value ?? say]))

/** Creates the task, starts it, and waits until its run has ended or waits for a person. An abort ends the run. */
export async function runOnce (drive: Drive, task: TaskBody) {
  const { agent: { client }, folder, signal } = drive
  const { data: { id } } = await createTask({ client, body: { cwd: folder, ...task }, signal, throwOnError: true })
  try {
    await runTask(drive, id)
  } finally {
    if (signal.aborted) await cancelTask({ client, path: { id }, throwOnError: true })
  }
}

async function runTask ({ agent: { client }, signal, said }: Drive, id: string) {
  await startTask({ client, path: { id }, signal, throwOnError: true })
  const { data: { runs: [{ runId }] } } = await listRuns({ client, query: { taskId: id }, signal, throwOnError: true })
  while (true) {
    const { data: run } = await getRun({ client, path: { runId }, query: { waitMs: WAIT_MS }, signal, throwOnError: true })
    if (!ENDED.includes(run.status)) continue
    said.answers.push(run.output ?? '')
    return
  }
}
