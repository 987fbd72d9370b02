import type { Protocol } from '../../../schemas/agent.ts'
import type { RunEvent } from '../../contracts/run-events.ts'

/**
 * Joins the segments of a run to one, as chat clients read a message that they do not have: with one `start`, without the ends of the
 * earlier segments, and without what these waited for: their calls would look as if they still waited, and a client would execute the
 * calls of the application again. Clients of version 5 keep each request for approval as a data part of the message, so `ui5` has them.
 */
export function wholeMessage (events: readonly RunEvent[], protocol: Protocol): RunEvent[] {
  const newest = events.findLastIndex(({ type }) => type === 'start')
  const isPart = ({ type }: RunEvent, at: number) => {
    switch (type) {
      case 'start':
        return at === 0
      case 'approval-request':
      case 'question-request':
      case 'question-closed':
        return at > newest || protocol === 'ui5'
      case 'tool-call-request':
      case 'finish':
      case 'error':
      case 'abort':
        return at > newest
      default:
        return true
    }
  }
  return events.slice(events.findIndex(({ type }) => type === 'start')).filter(isPart)
}
