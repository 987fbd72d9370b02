import {
  endsOfCutParts,
  endsOfLiveQuestions,
  intentsIn,
  type Run,
  segmentStart,
  storedSegment,
  type ThreadRun,
  unansweredIn,
  withoutCutInputs
} from '../runs/index.ts'
import { openCalls, type RunEvent } from '../contracts/run-events.ts'
import { OUTCOME_UNKNOWN } from '../contracts/model-texts.ts'
import { isUnanswered, type ThreadItem } from '../contracts/approval-record.ts'
import { findOfCall } from '../approvals/index.ts'

/** The result of a call that the service ended before it began. */
const NOT_BEGUN = 'Not carried out: the service ended before this call began.'

/** Names an earlier call for a model. */
const describeCall = ({ toolName, input }: { toolName: string, input: unknown }) =>
  `An earlier call of ${toolName} with ${JSON.stringify(input).slice(0, 500)}`

/**
 * Returns the events of a run that was cut, with ends for what was cut; what the user said and no step answered is unread. A call that had
 * begun has an unknown outcome. A call that had not begun stays open in a run that continues when its approval is answered again.
 */
export function closedEvents ({ log: { events }, durable }: Run<ThreadRun>): RunEvent[] {
  const begun = intentsIn(events)
  const cut = openCalls(events).filter(({ toolCallId }) => begun.has(toolCallId) || !durable)
  const outcomes = cut.map(({ toolCallId, toolName }): RunEvent => ({
    type: 'tool-error',
    toolCallId,
    toolName,
    errorText: begun.has(toolCallId) ? OUTCOME_UNKNOWN : NOT_BEGUN
  }))
  return [...withoutCutInputs(events), ...endsOfCutParts(events), ...endsOfLiveQuestions(events), ...outcomes, ...unansweredIn(events)]
}

/**
 * Returns notes for the model about the calls with effects in the last segment of a run, if that was cut: the client's messages may
 * hold no result of them.
 */
export function cutCallNotes (run: Run<ThreadRun>): string[] {
  if (storedSegment(run, run.record.segment) !== undefined) return []
  const events = run.log.events.slice(segmentStart(run.log.events, run.record.segment))
  const begun = intentsIn(events)
  const carriedOut = new Set(
    events.flatMap((event) =>
      event.type === 'tool-output' || (event.type === 'tool-error' && event.errorText !== OUTCOME_UNKNOWN) ? [event.toolCallId] : []
    )
  )
  return run.log.events.flatMap((event) => {
    if (event.type !== 'tool-input' || !begun.has(event.toolCallId)) return []
    return carriedOut.has(event.toolCallId)
      ? `${describeCall(event)} was carried out, even if the conversation holds no result of it.`
      : `${describeCall(event)} was interrupted; its outcome is unknown. Check before doing it again.`
  })
}

/** Returns what the model is told of the items of a run that nobody answered before a new message superseded the run. */
export const supersededNotes = (items: readonly ThreadItem[]): string[] => items.flatMap((item) => noteOf(item, items) ?? [])

const shown = (value: unknown) => JSON.stringify(value).slice(0, 500)

function noteOf (item: ThreadItem, items: readonly ThreadItem[]): string | undefined {
  switch (item.kind) {
    case 'question':
      return item.state === 'pending' ? `The user did not answer ${shown(item.questions)} and said something else.` : undefined
    case 'app':
      if (isUnanswered(item)) {
        return `${describeCall(item)} was given to the application, which did not say how it ended. Check before doing it again.`
      }
      if (item.state !== 'done' && item.state !== 'error') return undefined
      return `${describeCall(item)} was executed by the application, with the result ${shown(item.output ?? item.errorText)}.`
    case 'tool':
      // An approved call of the application has two items; the one of the application says more.
      return (item.state === 'pending' || item.state === 'approved') && findOfCall(items, item.toolCallId).answer === undefined
        ? `${describeCall(item)} was not carried out: the user said something else instead of approving it.`
        : undefined
  }
}
