import type { Protocol } from '../../schemas/agent.ts'
import type { RunEvent } from '../contracts/run-events.ts'
import { itemsIn, type Run, steeringIn, steerOf, type ThreadRun } from '../runs/index.ts'
import { isStoredAnswer, type RawMessage, steerMessage, storedForm, type ThreadMessage } from '../threads/index.ts'
import type { AgentDeps } from './agent-deps.ts'
import { continuedMessage } from './message-import.ts'
import type { Op } from '../store/index.ts'

/**
 * How a run of a conversation ends. `interrupted`: the service ended first. `cancelled`: its client left, or a newer message superseded it.
 */
export type RunEnd = 'completed' | 'failed' | 'stopped' | 'cancelled' | 'interrupted'

/** The parts of an answer's record beside the log of its run. */
interface AnswerEnd {
  /** Events that are stored together with the answer. */
  finalEvents?: readonly RunEvent[]
  /** Events that close the answer and are not stored in the log, because the log may continue. */
  ends?: RunEvent[]
  /** See `StoredAnswer`. */
  isCut?: true
  /** The items that the run waits for. */
  asked?: string[]
}

/** Returns the message that an answer continues, or the record of it; a run that was loaded has the record. */
function baseOf (messages: RawMessage[], protocol: Protocol): ThreadMessage | undefined {
  const last = messages.at(-1)
  if (last === undefined) return undefined
  if (isStoredAnswer(last)) return protocol === 'documented' || last.protocol === 'documented' ? undefined : last
  return continuedMessage(messages) === undefined ? undefined : storedForm(last)
}

/** Returns the operations that store the answer of a run in the thread, together with the events that end it. */
export async function recordAnswer (
  { record, log, messages }: Pick<Run<ThreadRun>, 'record' | 'log' | 'messages'>,
  { threads, answers }: Pick<AgentDeps, 'threads' | 'answers'>,
  { finalEvents = [], ends = [], isCut, asked = itemsIn(finalEvents) }: AnswerEnd
): Promise<Op[]> {
  // A rehearsal leaves nothing in the thread.
  if (record.sheet !== undefined) return []
  const { runId, threadId, answerAt, protocol = 'documented' } = record
  const events = [...log.events, ...finalEvents, ...ends]
  const answer = await answers.make({
    role: 'assistant',
    run: runId,
    protocol,
    base: baseOf(messages, protocol),
    isCut,
    ends: ends.length > 0 ? ends : undefined
  }, events)
  const unread = steeringIn(events).filter(({ state }) => state === 'unread')
    .map((event) => steerMessage(steerOf(event), protocol !== 'documented'))
  const said = answer === undefined ? unread : [answer, ...unread]
  return threads.appendAnswer(threadId, answerAt, said, asked.length > 0 ? { asked } : {})
}

/**
 * Ends a segment: stores the answer and the events, and marks the guide of the folder as known. Without an `end`, the run waits. Readers
 * get the final events only when everything before them is on disk.
 */
export async function endSegment (
  run: Run<ThreadRun>,
  deps: Pick<AgentDeps, 'runs' | 'threads' | 'answers' | 'guides'>,
  { finalEvents, ops = [], end }: { finalEvents: RunEvent[], ops?: Op[], end?: RunEnd }
) {
  await run.saved
  const told = run.log.events.find((event) => event.type === 'context')
  if (told?.context.guide !== undefined && run.record.sheet === undefined) await deps.guides.markKnown(told.context.guide)
  const answer = await recordAnswer(run, deps, { finalEvents })
  await deps.runs.commit(run, { finalEvents, ops: [...ops, ...answer], status: end ?? 'pending_approval' })
}
