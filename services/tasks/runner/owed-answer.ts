import type { ObjectAnswer } from '../../objects/object-answer.ts'
import { takeAnswer } from '../../objects/take-answer.ts'
import type { RunEvent } from '../../contracts/run-events.ts'
import type { StoredRun } from '../task-records.ts'

/** Takes the structured answer of a run's newest step: what changes in the run, and the events to store. Throws as `takeAnswer` does. */
export function answerOfStep (
  events: readonly RunEvent[],
  owed: ObjectAnswer,
  isLast: boolean
): { changes: Pick<StoredRun, 'object'>, events: RunEvent[] } {
  const { outcomes, answer, retry } = takeAnswer(events, owed, { isLast })
  return {
    changes: answer === undefined ? {} : { object: answer.object },
    events: [...outcomes, answer, retry].filter((event) => event !== undefined)
  }
}
