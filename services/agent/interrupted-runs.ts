import type { Protocol } from '../../schemas/agent.ts'
import { defineError } from '../lib/service-error.ts'
import type { RunEvent } from '../contracts/run-events.ts'
import { wholeMessage } from '../run-log/whole-message.ts'
import { createRunLog, segmentStart } from '../run-log/run-log.ts'
import { LIVE_RUNS, liveRunKey } from '../store/keys.ts'
import { isDamage } from '../store/store-errors.ts'
import { subscribeToRecorded, type Subscription } from './active-runs.ts'
import type { AgentDeps } from './agent-deps.ts'
import { recordAnswer } from './answer-record.ts'
import { closedEvents } from './cut-calls.ts'
import { commit, loadRun, storedSegment, type Run } from './run-repository.ts'

const Interrupted = defineError(
  'ERR_INTERRUPTED',
  'The service ended while it answered. The conversation holds what was done until then; send a message to go on.'
)

/** The runs that are recovered at the same time. */
const AT_ONCE = 16

type Deps = Pick<AgentDeps, 'store' | 'clock' | 'threads' | 'conversations' | 'ledger' | 'log'>

/**
 * Ends a run as interrupted: its thread shows what was done, and the next message of the user tells the model about the calls that were
 * cut. Nothing continues by itself.
 */
export async function interrupt (run: Run, deps: Deps): Promise<void> {
  await run.saved
  const { threadId, runId } = run.head
  const answer = await recordAnswer({ ...run, log: createRunLog(closedEvents(run)) }, deps)
  const conversation = await deps.conversations.get(threadId)
  await commit(run, deps, { ops: [...answer, deps.conversations.asked(conversation, runId)], end: 'interrupted' })
}

/** Ends the runs that the last end of the service cut. Only these are read, by their index. */
export async function interruptCutRuns (deps: Deps): Promise<void> {
  const { store, log } = deps
  const runIds: string[] = []
  for await (const key of store.keys(LIVE_RUNS)) runIds.push(key.slice(LIVE_RUNS.length))
  const forget = (runId: string) => store.transact([{ type: 'del', key: liveRunKey(runId) }])

  async function recover (runId: string): Promise<void> {
    try {
      const run = await loadRun(store, runId)
      if (run === undefined) return await forget(runId)
      await interrupt({ ...run, indexed: true }, deps)
    } catch (error) {
      log.error({ err: error, runId }, 'a run that was cut could not be ended')
      if (isDamage(error)) await forget(runId)
    }
  }
  for (let at = 0; at < runIds.length; at += AT_ONCE) await Promise.all(runIds.slice(at, at + AT_ONCE).map(recover))
}

/** Replays the last segment of a run, in `ui` the whole message; an interrupted one ends with the interruption. */
export function replayRecorded (run: Run, protocol: Protocol = run.head.protocol ?? 'documented'): Subscription | undefined {
  const { head } = run
  const { messageId, threadId, runId, end: { status } = {} } = head
  const events = status === 'interrupted' ? closedEvents(run) : run.log.events
  const first = segmentStart(events, head.segment)
  const replayed = protocol !== 'documented' ? wholeMessage(events, protocol) : first === -1 ? [] : events.slice(first)
  if (status !== 'interrupted') {
    return storedSegment(run, head.segment) && subscribeToRecorded(head, replayed, protocol)
  }
  const { code, message } = new Interrupted()
  const end: RunEvent[] = [
    { type: 'error', errorText: message, code },
    { type: 'finish', finishReason: 'error', usage: head.usage }
  ]
  // A run that was cut in its first step may have no stored events.
  const start: RunEvent[] = replayed.length > 0 ? [] : [{ type: 'start', messageId, threadId, runId }]
  return subscribeToRecorded(head, [...start, ...replayed, ...end], protocol)
}
