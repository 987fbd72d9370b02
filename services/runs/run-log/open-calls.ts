import { type EventOf, newestStep, type RunEvent } from '../../contracts/run-events.ts'

/**
 * Returns the ids of the calls that have an intent (the event `tool-intent`, stored before a tool starts), so that their tools might have
 * started.
 */
export const intentsIn = (events: readonly RunEvent[]): Set<string> =>
  new Set(events.flatMap((event) => event.type === 'tool-intent' ? [event.toolCallId] : []))

/** Returns the ids of the ledger items for all requests to the user or the application in the events. */
export const itemsIn = (events: readonly RunEvent[]): string[] =>
  events.flatMap((event) => {
    switch (event.type) {
      case 'approval-request':
      case 'question-request':
        return [event.approvalId]
      case 'tool-call-request':
        return [event.toolCallId]
      default:
        return []
    }
  })

/**
 * Returns a function that says whether an item belongs to a call of the newest step, or to no call, such as a question about the budget of
 * the run.
 */
export function inNewestStep (events: readonly RunEvent[]): (item: { toolCallId?: string }) => boolean {
  const calls = new Set(newestStep(events).flatMap((event) => event.type === 'tool-input' ? [event.toolCallId] : []))
  return ({ toolCallId }) => toolCallId === undefined || calls.has(toolCallId)
}

/** Returns events that close the open live questions, because such questions end with their call. */
export function endsOfLiveQuestions (events: readonly RunEvent[]): Array<EventOf<'question-closed'>> {
  const open = new Map<string, EventOf<'question-closed'>>()
  for (const event of events) {
    if (event.type === 'question-request' && event.live) {
      open.set(event.approvalId, { ...event, type: 'question-closed', state: 'withdrawn' })
    }
    if (event.type === 'question-closed') open.delete(event.approvalId)
  }
  return [...open.values()]
}
