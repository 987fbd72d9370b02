import type { Protocol } from '../../schemas/agent.ts'
import { defineError } from '../lib/service-error.ts'
import type { RunEvent } from '../contracts/run-events.ts'
import {
  createRunLog,
  finishOf,
  type Run,
  segmentStart,
  storedSegment,
  subscribeToRecorded,
  type Subscription,
  type ThreadRun,
  wholeMessage
} from '../runs/index.ts'
import type { AgentDeps } from './agent-deps.ts'
import { recordAnswer } from './answer-record.ts'
import { closedEvents } from './cut-calls.ts'

const Interrupted = defineError(
  'ERR_INTERRUPTED',
  'The service ended while it answered. The conversation holds what was done until then; send a message to go on.'
)

type Deps = Pick<AgentDeps, 'runs' | 'threads' | 'conversations' | 'ledger' | 'log'>

/**
 * Ends a run as interrupted: its thread shows what was done, and the next message of the user tells the model about the calls that were
 * cut. Nothing continues by itself.
 */
export async function interrupt (run: Run<ThreadRun>, deps: Deps): Promise<void> {
  await run.saved
  const { threadId, runId, sheet } = run.record
  if (sheet !== undefined) return deps.runs.commit(run, { status: 'interrupted' })
  const answer = await recordAnswer({ ...run, log: createRunLog(closedEvents(run)) }, deps)
  const conversation = await deps.conversations.get(threadId)
  await deps.runs.commit(run, { ops: [...answer, deps.conversations.asked(conversation, runId)], status: 'interrupted' })
}

/** Replays the last segment of a run, in `ui` the whole message; an interrupted one ends with the interruption. */
export function replayRecorded (run: Run<ThreadRun>, protocol: Protocol = run.record.protocol ?? 'documented'): Subscription | undefined {
  const { record } = run
  const { messageId, threadId, runId, status } = record
  const events = status === 'interrupted' ? closedEvents(run) : run.log.events
  const first = segmentStart(events, record.segment)
  const replayed = protocol !== 'documented' ? wholeMessage(events, protocol) : first === -1 ? [] : events.slice(first)
  if (status !== 'interrupted') {
    return storedSegment(run, record.segment) && subscribeToRecorded(record, replayed, protocol)
  }
  const { code, message } = new Interrupted()
  const end: RunEvent[] = [
    { type: 'error', errorText: message, code },
    finishOf(record, 'error')
  ]
  // A run that was cut in its first step may have no stored events.
  const start: RunEvent[] = replayed.length > 0 ? [] : [{ type: 'start', messageId, threadId, runId }]
  return subscribeToRecorded(record, [...start, ...replayed, ...end], protocol)
}
