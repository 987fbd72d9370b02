import type { Steer } from '../../../schemas/steering.ts'
import type { EventOf, RunEvent } from '../../contracts/run-events.ts'
import { withoutDroppedTries } from './cut-steps.ts'

type SteerEvent = EventOf<'steer'>

/** Returns what the user said to a run while it was under way, each in its newest state, in the order in which it was said. */
export function steeringIn (events: readonly RunEvent[]): SteerEvent[] {
  const said = new Map<string, SteerEvent>()
  for (const event of events) if (event.type === 'steer') said.set(event.id, event)
  return [...said.values()]
}

export const waitingIn = (events: readonly RunEvent[]): SteerEvent[] => steeringIn(events).filter(({ state }) => state === 'waiting')

/** Events that show that the model of a step has answered. */
const ANSWERS: ReadonlySet<RunEvent['type']> = new Set(['text-delta', 'tool-input', 'tool-input-error', 'step-finish'])

/** Returns, as `unread`, what a run that ends here has not answered: what no step got, and what a step got that ended without a word. */
export function unansweredIn (events: readonly RunEvent[]): SteerEvent[] {
  const unanswered = new Map<string, SteerEvent>()
  let read: SteerEvent[] = []
  for (const event of withoutDroppedTries(events)) {
    if (event.type === 'steer') {
      unanswered.set(event.id, event)
      if (event.state === 'read') read.push(event)
    } else if (read.length > 0 && ANSWERS.has(event.type)) {
      for (const { id } of read) unanswered.delete(id)
      read = []
    }
  }
  return [...unanswered.values()].map(({ step, ...event }) => ({ ...event, state: 'unread' }))
}

/** Returns what the user said to a run that has ended, each in its last state. */
export const endedSteering = (events: readonly RunEvent[]): SteerEvent[] => steeringIn([...events, ...unansweredIn(events)])

/** Returns the ids of what a run ended without answering. */
export const unreadIds = (events: readonly RunEvent[]): ReadonlySet<string> =>
  new Set(steeringIn(events).flatMap(({ id, state }) => state === 'unread' ? [id] : []))

/** Returns the public form of what the user said. */
export const steerOf = ({ type, at, ...steer }: SteerEvent): Steer => steer
