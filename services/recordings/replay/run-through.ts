import type { ApprovalView, ApprovalDecision } from '../../../schemas/approvals.ts'
import type { RunOptions } from '../../../schemas/run-options.ts'
import type { Run } from '../../../schemas/runs.ts'
import type { ToolCallView } from '../../../schemas/tool-calls.ts'
import { linesOf, type Recording } from '../recording.ts'

/** The service that receives a recorded request, called in this process through its HTTP interface. */
export interface RecordedService {
  request(method: 'GET' | 'POST', url: string, body?: object): Promise<{ status: number, body: any }>
}

/** Answers the questions of a run. */
interface Answering {
  /** Returns the decision about an approval or the answers to questions; undefined to leave the item open, and the run waiting. */
  decide(item: ApprovalView): ApprovalDecision | undefined
  /** Returns the result of a call of the application; undefined to leave the call open. */
  answerCall(call: ToolCallView): { output: Record<string, unknown> } | { error: string } | undefined
  /** Called with the ids of the run as soon as they are known, while the run executes. */
  began?(place: { runId?: string, threadId?: string, taskId?: string }): void
}

/** The service refused the request of a recording. */
export class RequestRefused extends Error {}

/** How long one request waits for the end of a run; milliseconds. */
const WAIT_MS = 60_000

/**
 * Sends the request of a recording and answers the questions of the run. Resolves to the run when it has ended,
 * or when it waits and `answering` leaves its items open.
 */
export async function runThrough (recording: Recording, service: RecordedService, cwd: string, answering: Answering): Promise<Run> {
  const runId = linesOf(recording, 'task').length > 0
    ? await beginTask(recording, service, cwd, answering)
    : await beginConversation(recording, service, cwd, answering)
  for (;;) {
    const run: Run = (await service.request('GET', `/runs/${runId}?waitMs=${WAIT_MS}`)).body
    if (run.status === 'running' || run.status === 'queued') {
      // While a run executes, only questions in the middle of a call can be open.
      if (!await answerOpen(runId, service, answering)) continue
    } else if (run.status !== 'pending_approval' || !await answerOpen(runId, service, answering)) return run
  }
}

/** Answers the open items of a run. Resolves to whether at least one was answered. */
async function answerOpen (runId: string, { request }: RecordedService, { decide, answerCall }: Answering): Promise<boolean> {
  let isAnswered = false
  const { approvals } = (await request('GET', '/approvals?limit=500')).body as { approvals: ApprovalView[] }
  for (const item of approvals.filter((each) => each.runId === runId)) {
    const decision = decide(item)
    if (decision === undefined) continue
    const { status, body } = await request('POST', `/approvals/${item.approvalId}`, decision)
    if (status !== 200) throw new RequestRefused(body.error)
    isAnswered = true
  }
  const { toolCalls } = (await request('GET', '/tool-calls?limit=500')).body as { toolCalls: ToolCallView[] }
  for (const call of toolCalls.filter((each) => each.runId === runId)) {
    const result = answerCall(call)
    if (result === undefined) continue
    await request('POST', `/tool-calls/${encodeURIComponent(call.toolCallId)}`, result)
    isAnswered = true
  }
  return isAnswered
}

async function beginConversation (recording: Recording, { request }: RecordedService, cwd: string, answering: Answering): Promise<string> {
  const [{ messages, options }] = linesOf(recording, 'request')
  const id = `recording-${crypto.randomUUID()}`
  answering.began?.({ threadId: id })
  const { status, body } = await request('POST', '/run/sync', { id, messages, cwd, options: replayOptions(options) })
  const { runs } = (await request('GET', `/runs?threadId=${id}&limit=1`)).body as { runs: Run[] }
  if (runs.length === 0) throw new RequestRefused(body?.error ?? `The service answered ${status}.`)
  return runs[0].runId
}

async function beginTask (recording: Recording, { request }: RecordedService, cwd: string, answering: Answering): Promise<string> {
  const [{ type, steering = [], options, input, ...task }] = linesOf(recording, 'task')
  const created = await request('POST', '/tasks', { ...task, cwd, options: replayOptions(options) })
  if (created.status !== 200 && created.status !== 201) throw new RequestRefused(created.body.error)
  const { id } = created.body
  for (const comment of steering) await request('POST', `/tasks/${id}/steer`, { comment })
  const started = input === undefined
    ? await request('POST', `/tasks/${id}/start`)
    : await request('POST', `/tasks/${id}/run`, { input })
  if (started.status >= 400) throw new RequestRefused(started.body.error)
  const { runs } = (await request('GET', `/tasks/${id}/runs`)).body as { runs: Run[] }
  answering.began?.({ runId: runs[0].runId, taskId: id })
  return runs[0].runId
}

/**
 * Returns the recorded options for a replay: without model and agent, which the replay replaces, and without
 * budgets of money and time, which a replay does not use.
 */
function replayOptions ({ model, agent, budget, ...options }: RunOptions = {}): RunOptions {
  return { ...options, ...(budget?.tokens !== undefined && { budget: { tokens: budget.tokens } }) }
}
