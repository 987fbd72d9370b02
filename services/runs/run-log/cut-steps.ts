import type { RunEvent } from '../../contracts/run-events.ts'

/** Whether an event is kept when its step is left out. */
const isKept = ({ type }: RunEvent) => type === 'start' || type === 'message' || type === 'steer' || type === 'context'

/**
 * Events that show that the model call of a step is complete, or that the segment (the part of the run up to its next wait for a person)
 * ended with the step.
 */
const WHOLE = new Set<RunEvent['type']>(['step-finish', 'tool-input', 'tool-input-error', 'finish'])

/**
 * Returns the events without the last step if the model call of that step was interrupted, so that the step has neither calls nor an end.
 * If a person or a budget stops a run in the middle of a step, the segment ends there and its events are kept, because the run does not
 * continue.
 */
export function withoutCutCall (events: readonly RunEvent[]): readonly RunEvent[] {
  const at = events.findLastIndex(({ type }) => type === 'step-start')
  const isWhole = events.slice(at).some(({ type }) => WHOLE.has(type))
  return at === -1 || isWhole ? events : [...events.slice(0, at), ...events.slice(at).filter(isKept)]
}

/** Returns the events without the beginnings of calls whose inputs are incomplete. */
export function withoutCutInputs (events: readonly RunEvent[]): RunEvent[] {
  const whole = new Set(events.flatMap((event) => event.type === 'tool-input' || event.type === 'tool-input-error' ? event.toolCallId : []))
  return events.filter((event) => (event.type !== 'tool-input-start' && event.type !== 'tool-input-delta') || whole.has(event.toolCallId))
}

/** Returns events that end the text and reasoning parts that were interrupted. */
export function endsOfCutParts (events: readonly RunEvent[]): RunEvent[] {
  const open = new Map<string, 'text-end' | 'reasoning-end'>()
  for (const event of events) {
    if (event.type === 'text-start') open.set(event.id, 'text-end')
    if (event.type === 'reasoning-start') open.set(event.id, 'reasoning-end')
    if (event.type === 'text-end' || event.type === 'reasoning-end') open.delete(event.id)
  }
  return [...open].map(([id, type]) => ({ type, id }))
}

/** Returns the events without attempts at steps that broke off and were repeated. */
export const withoutDroppedTries = (events: readonly RunEvent[]): readonly RunEvent[] =>
  events.some(({ type }) => type === 'retry') ? withoutRepeatedSteps(events) : events

/**
 * Returns the events of a run with each step once. If the model call of a step was interrupted, the model was called again and the step
 * occurs twice; the later one counts.
 */
export function withoutRepeatedSteps (events: readonly RunEvent[]): readonly RunEvent[] {
  let kept: RunEvent[] = []
  for (const event of events) {
    if (event.type === 'step-start') {
      const at = kept.findIndex(({ type, ...rest }) => type === event.type && 'step' in rest && rest.step === event.step)
      if (at !== -1) kept = [...kept.slice(0, at), ...kept.slice(at).filter(isKept)]
    }
    kept.push(event)
  }
  return kept
}
