import { type EventOf, newestStep, type RunEvent } from '../../contracts/run-events.ts'

/** Returns the ids of the calls whose tools were about to start: an intent is stored before a tool starts, and the outcome after it. */
export const intentsIn = (events: readonly RunEvent[]): Set<string> =>
  new Set(events.flatMap((event) => event.type === 'tool-intent' ? [event.toolCallId] : []))

/** Returns the ids in the ledger of everything that the events request of the user or the application. */
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
 * Returns a function that tells whether an item belongs to a call of the newest step, or to no call: a run asks about its budget between
 * its steps.
 */
export function inNewestStep (events: readonly RunEvent[]): (item: { toolCallId?: string }) => boolean {
  const calls = new Set(newestStep(events).flatMap((event) => event.type === 'tool-input' ? [event.toolCallId] : []))
  return ({ toolCallId }) => toolCallId === undefined || calls.has(toolCallId)
}

/** Returns events that end the open live questions: they end with their call. */
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
