import type { RunResult } from '../../schemas/agent.ts'
import { type EventOf, type RunEvent, answerEvaluation, answerText, otherVersion } from '../contracts/run-events.ts'
import { noUsage } from '../usage/index.ts'
import { answerMessages, readWhole, steeringIn, steerOf, type Subscription, toError } from '../runs/index.ts'

/** Waits for the end of a run and returns its result as one object. Throws the failure of the run, with its own code. */
export async function collectResult (subscription: Subscription, signal: AbortSignal): Promise<RunResult> {
  const events = await readWhole(subscription, signal)
  const of = <T extends RunEvent['type']>(type: T) => events.filter((event) => event.type === type) as Array<EventOf<T>>
  const [failure] = of('error')
  if (failure !== undefined) throw toError(failure)
  const finish = of('finish')[0]
  return {
    text: answerText(events),
    otherText: otherVersion(events),
    messages: answerMessages(events),
    steps: of('step-start').length,
    toolCalls: toolCalls(events),
    usage: finish?.usage ?? noUsage(),
    finishReason: finish?.finishReason ?? 'other',
    stopped: finish?.stopped,
    pendingApprovals: of('approval-request').map(({ type, app, ...request }) => request),
    pendingQuestions: of('question-request').map(({ type, ...request }) => request),
    pendingToolCalls: of('tool-call-request').map(({ type, ...request }) => request),
    analysis: of('analysis')[0]?.analysis,
    task: of('task')[0]?.task,
    evaluation: answerEvaluation(events),
    ...(steeringIn(events).length > 0 && { steering: steeringIn(events).map(steerOf) }),
    ...(of('compaction').length > 0 && { compactions: of('compaction').map(({ type, ...compaction }) => compaction) }),
    object: of('object')[0]?.object,
    options: subscription.options,
    undone: of('start')[0]?.undone,
    threadId: subscription.threadId,
    runId: subscription.runId
  }
}

function toolCalls (events: readonly RunEvent[]): RunResult['toolCalls'] {
  const calls = new Map<string, RunResult['toolCalls'][number]>()
  for (const event of events) {
    if (!('toolCallId' in event) || !('toolName' in event)) continue
    const { toolCallId, toolName } = event
    const call = calls.get(toolCallId) ?? { toolCallId, toolName, status: 'pending' as const }
    if (event.type === 'tool-input') call.input = event.input
    if (event.type === 'tool-output') Object.assign(call, { output: event.output, status: 'completed' })
    if (event.type === 'tool-error' || event.type === 'tool-input-error') {
      Object.assign(call, { errorText: event.errorText, status: 'error' })
    }
    if (event.type === 'tool-denied') Object.assign(call, { errorText: event.reason, status: 'denied' })
    calls.set(toolCallId, call)
  }
  return [...calls.values()]
}
