import { createError } from '@fastify/error'
import type { RunResult } from '../../schemas/agent.ts'
import type { EventOf, RunEvent } from '../run-log/run-events.ts'
import { answerText } from '../run-log/fold.ts'
import type { Subscription } from './active-runs.ts'
import { answerMessages } from './answer-record.ts'

const UpstreamFailed = createError('ERR_UPSTREAM', '%s', 502)
/** Failures that are not the model provider's, by the code of the run's `error` event. */
const FAILURES: Record<string, ReturnType<typeof createError>> = {
  ERR_TIMEOUT: createError('ERR_TIMEOUT', '%s', 504),
  ERR_INTERNAL: createError('ERR_INTERNAL', '%s', 500),
  ERR_STORE_UNAVAILABLE: createError('ERR_STORE_UNAVAILABLE', '%s', 503),
  ERR_STORE_BUSY: createError('ERR_STORE_BUSY', '%s', 503),
  ERR_TOO_MANY_TASKS: createError('ERR_TOO_MANY_TASKS', '%s', 409)
}

/**
 * Waits for the end of a run and returns its result as one object. Throws the run's failure: UpstreamFailed (502),
 * ERR_TIMEOUT (504), an unavailable or busy store (503), too many tasks (409) or an internal error (500).
 */
export async function collectResult (subscription: Subscription, signal: AbortSignal): Promise<RunResult> {
  const events: RunEvent[] = []
  try {
    for await (const batch of subscription.batches(signal)) events.push(...batch)
  } finally {
    subscription.unsubscribe()
  }
  const of = <T extends RunEvent['type']>(type: T) => events.filter((event) => event.type === type) as Array<EventOf<T>>
  const [failure] = of('error')
  if (failure !== undefined) throw new (FAILURES[failure.code] ?? UpstreamFailed)(failure.errorText)
  const finish = of('finish')[0]
  return {
    text: answerText(events),
    messages: answerMessages(events),
    steps: of('step-start').length,
    toolCalls: toolCalls(events),
    usage: finish?.usage ?? { inputTokens: 0, outputTokens: 0 },
    finishReason: finish?.finishReason ?? 'other',
    pendingApprovals: of('approval-request').map(({ type, ...request }) => request),
    ...(of('analysis')[0] && { analysis: of('analysis')[0].analysis }),
    ...(of('task')[0] && { task: of('task')[0].task }),
    ...(of('evaluation')[0] && { evaluation: of('evaluation')[0].evaluation }),
    ...(of('compaction').length > 0 && { compactions: of('compaction').map(({ type, ...compaction }) => compaction) }),
    threadId: subscription.threadId,
    runId: subscription.runId
  }
}

function toolCalls (events: RunEvent[]): RunResult['toolCalls'] {
  const calls = new Map<string, RunResult['toolCalls'][number]>()
  for (const event of events) {
    if (!('toolCallId' in event) || !('toolName' in event)) continue
    const { toolCallId, toolName } = event
    const call = calls.get(toolCallId) ?? { toolCallId, toolName, status: 'pending' as const }
    if (event.type === 'tool-input') call.input = event.input
    if (event.type === 'tool-output') Object.assign(call, { output: event.output, status: 'complete' })
    if (event.type === 'tool-error' || event.type === 'tool-input-error') {
      Object.assign(call, { errorText: event.errorText, status: 'error' })
    }
    if (event.type === 'tool-denied') Object.assign(call, { errorText: event.reason, status: 'denied' })
    calls.set(toolCallId, call)
  }
  return [...calls.values()]
}
