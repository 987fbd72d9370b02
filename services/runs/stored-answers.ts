import type { RunEvent } from '../contracts/run-events.ts'
import type { Ledger } from '../approvals/index.ts'
import { ANSWER, isStoredAnswer, type StoredAnswer, type ThreadMessage } from '../threads/index.ts'
import type { ActiveRuns } from './engine/active-runs.ts'
import { answerOf } from './run-log/answer.ts'
import { withoutCutInputs } from './run-log/cut-steps.ts'
import { itemsIn } from './run-log/open-calls.ts'
import { segmentStart } from './run-log/run-log.ts'
import { isOver } from './run-record.ts'
import type { Run, RunRepository } from './run-repository.ts'

const OUTCOMES: ReadonlySet<RunEvent['type']> = new Set(['tool-output', 'tool-error', 'tool-denied'])

/**
 * Returns the events of a run that its thread shows. Of a run that continues after a wait, these are the events up to the last outcome of a
 * call.
 */
function eventsSoFar ({ record, log: { events } }: Run): readonly RunEvent[] {
  if (isOver(record) || record.status === 'pending_approval') return events
  const last = events.findLastIndex(({ type }) => OUTCOMES.has(type))
  return events.slice(0, Math.max(last + 1, segmentStart(events, record.segment)))
}

/** Makes and reads the answers that threads contain, from the logs of the runs that gave these answers. */
export function createStoredAnswers ({ runs, ledger, activeRuns }: {
  runs: Pick<RunRepository, 'readSaid'>
  ledger: Pick<Ledger, 'all'>
  activeRuns: Pick<ActiveRuns, 'ofRun'>
}) {
  const answersTo = async (events: readonly RunEvent[]) =>
    (await ledger.all(itemsIn(events))).flatMap((item) => item.kind !== 'tool' || item.approved === undefined
      ? []
      : [{ approvalId: item.approvalId, approved: item.approved, reason: item.reason || undefined }])

  async function fold (stored: Omit<StoredAnswer, 'count'>, events: readonly RunEvent[]): Promise<ThreadMessage | undefined> {
    const { base } = stored
    return answerOf({ stored, events, base: base !== undefined && isStoredAnswer(base) ? await read(base) : base })
  }

  /** Makes the answer that a thread contains from the events of a run; undefined if no part of it was sent to a client. */
  async function make (stored: Omit<StoredAnswer, 'count'>, events: readonly RunEvent[]): Promise<ThreadMessage | undefined> {
    const answered = await answersTo(events)
    return fold({ ...stored, answered: answered.length > 0 ? answered : undefined }, events)
  }

  /** Reads an answer from the log of its run. Throws RecordDamaged. */
  async function read (stored: StoredAnswer): Promise<ThreadMessage> {
    const live = activeRuns.ofRun(stored.run)
    const { count, ...rest } = stored
    const answer = live === undefined
      ? await fold(rest, closed(stored, await runs.readSaid(stored.run)))
      : await make(rest, eventsSoFar(live.run))
    return answer ?? { role: 'assistant', parts: [], [ANSWER]: { stored, written: [], prompt: [] } }
  }

  return { make, read }
}

const closed = ({ isCut, ends = [] }: StoredAnswer, events: readonly RunEvent[]): readonly RunEvent[] =>
  [...isCut ? withoutCutInputs(events) : events, ...ends]
