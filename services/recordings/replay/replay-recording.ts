import { isDeepStrictEqual } from 'node:util'
import type { ApprovalDecision, ApprovalView } from '../../../schemas/approvals.ts'
import type { Run } from '../../../schemas/runs.ts'
import { linesOf, type Recording } from '../recording.ts'
import { checkExpectations } from './expectations.ts'
import type { Difference } from './differences.ts'
import type { ReplaySession } from './replay-session.ts'
import { RequestRefused, runThrough, type RecordedService } from './run-through.ts'

interface Replayed {
  /** The differences between the run and the recording, sorted by step. */
  differences: Difference[]
  steps: number
  calls: number
  approvals: number
}

/** Statuses of recorded runs that ended for a reason outside of the run, so their end is not compared. */
const ENDED_OUTSIDE = ['cancelled', 'interrupted', 'rejected']

/** Replays a recording: sends its request to a service whose models and tools are played by `session`. */
export async function replayRecording (
  recording: Recording,
  { service, session, cwd }: { service: RecordedService, session: ReplaySession, cwd: string }
): Promise<Replayed> {
  const { differences } = session
  const asked = new Set<string>()
  let approvals = 0
  let place: { runId?: string, threadId?: string, taskId?: string } = {}
  const at = () => encodeURIComponent(place.runId ?? place.threadId ?? '')
  const stopAt = () => place.taskId === undefined ? `/run/${at()}/stop` : `/tasks/${place.taskId}/runs/${at()}/cancel`
  session.connect({
    steer: async (message) => void await service.request('POST', `/run/${at()}/steer`, { message }),
    stop: async () => void await service.request('POST', stopAt())
  })
  try {
    const run = await runThrough(recording, service, cwd, {
      began: (given) => void (place = { ...place, ...given }),
      decide (item) {
        approvals++
        if (item.toolName !== undefined) asked.add(item.toolName)
        return decisionOf(item, session)
      },
      answerCall ({ toolCallId, toolName, input }) {
        const line = session.callOf(toolCallId, { toolName, input })
        session.answered(toolCallId)
        if (line?.output !== undefined) return { output: line.output }
        return line?.error === undefined ? undefined : { error: line.error }
      }
    })
    compareEnd(run, recording, session)
    differences.push(...await checkExpectations(linesOf(recording, 'expect'), { run, asked, cwd, step: session.made }))
  } catch (error) {
    if (!(error instanceof RequestRefused)) throw error
    differences.push({ step: session.made, what: `The service refuses what it took when it was recorded: ${error.message}` })
  }
  differences.sort((a, b) => a.step - b.step)
  return { differences, steps: session.made, calls: linesOf(recording, 'call').length, approvals }
}

/**
 * Returns the recorded decision about an item; undefined if nobody decided. An item that the recording does not
 * have is a difference, and is approved so that the run continues.
 */
function decisionOf (item: ApprovalView, session: ReplaySession): ApprovalDecision | undefined {
  if (item.kind === 'result') {
    const line = session.decisionBesideCalls('result')
    return { approved: line?.approved ?? true, ...(line?.reason && { reason: line.reason }) }
  }
  const id = item.toolCallId ?? item.approvalId
  const line = item.toolCallId === undefined ? session.decisionBesideCalls(item.kind) : session.decisionOf(id, item)
  if (line?.approved === undefined) {
    if (line !== undefined) return undefined
    const { by, toolName = item.kind } = session.callOf(id) ?? { toolName: item.toolName }
    if (by !== 'grant') {
      session.differences.push({ step: session.stepOf(session.recordedId(id)), what: `${toolName} asks for an approval, and did not.` })
    }
    return { approved: true }
  }
  const { approved, reason, answers, input } = line
  if (answers !== undefined) return { answers }
  return { approved, ...(reason && { reason }), ...(approved && input !== undefined && { input }) }
}

function compareEnd (run: Run, recording: Recording, session: ReplaySession): void {
  const { differences, steps, made } = session
  for (const { toolName, call } of session.unasked()) {
    differences.push({ step: session.stepOf(call!), what: `${toolName} asks for no approval any more.` })
  }
  const [end] = linesOf(recording, 'end')
  // The last recorded call might have failed without being made, because a budget forbade it.
  const isFailure = steps.at(-1)?.answer.failure !== undefined
  if (made < steps.length - (isFailure ? 1 : 0)) {
    differences.push({
      step: made + 1,
      what: `The run ended after ${made} of ${steps.length} model calls.`,
      ...((run.error ?? run.stopped?.text) && { now: run.error ?? run.stopped?.text })
    })
  }
  if (end === undefined || ENDED_OUTSIDE.includes(end.status) || steps.at(-1)?.answer.isCut) return
  if (run.status !== end.status) {
    differences.push({
      step: made,
      what: `The run ended as ${run.status}; it was ${end.status}.`,
      ...(end.error && { recorded: end.error.message }),
      ...(run.error && { now: run.error })
    })
  } else if (run.stopped?.reason !== end.stopped?.reason) {
    const [was, is] = [end.stopped?.reason, run.stopped?.reason].map((reason) => reason ?? 'its own end')
    differences.push({ step: made, what: `The run stopped for another reason: ${is}, not ${was}.` })
  }
  if (end.object !== undefined && !isDeepStrictEqual(run.object, end.object)) {
    differences.push({
      ...{ step: made, what: 'The structured answer differs.' },
      ...{ recorded: JSON.stringify(end.object), now: JSON.stringify(run.object ?? null) }
    })
  }
}
