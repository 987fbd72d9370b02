import type { Steer } from '../../../schemas/steering.ts'
import type { EventOf, RunEvent } from '../../contracts/run-events.ts'
import { withoutDroppedTries } from './cut-steps.ts'

type SteerEvent = EventOf<'steer'>

/** Returns the messages of the user during a run, each in its newest state, in the order in which they were sent. */
export function steeringIn (events: readonly RunEvent[]): SteerEvent[] {
  const said = new Map<string, SteerEvent>()
  for (const event of events) if (event.type === 'steer') said.set(event.id, event)
  return [...said.values()]
}

export const waitingIn = (events: readonly RunEvent[]): SteerEvent[] => steeringIn(events).filter(({ state }) => state === 'waiting')

/** Events that show that the model has answered in a step. */
const ANSWERS: ReadonlySet<RunEvent['type']> = new Set(['text-delta', 'tool-input', 'tool-input-error', 'step-finish'])

/**
 * Returns the messages of the user that a run which ends here has not answered, with the state `unread`: messages that no step has read,
 * and messages that were read by a step without an answer.
 */
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

/** Returns the messages of the user during a run that has ended, each in its last state. */
export const endedSteering = (events: readonly RunEvent[]): SteerEvent[] => steeringIn([...events, ...unansweredIn(events)])

/** Returns the ids of the user's messages with the state `unread`, which a run had not answered when it ended. */
export const unreadIds = (events: readonly RunEvent[]): ReadonlySet<string> =>
  new Set(steeringIn(events).flatMap(({ id, state }) => state === 'unread' ? [id] : []))

/** Returns the public form of a message of the user during a run. */
export const steerOf = ({ type, at, ...steer }: SteerEvent): Steer => steer
