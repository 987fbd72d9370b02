import type { RunStreamEvent } from './generated/index.ts'

/** An event of a model's answer. The pieces of a part are joined to one event. */
interface Entry {
  key: string
  text: string
  event: RunStreamEvent
}

/** A place in the answers: after `index` events and, if the next event is a piece of text, after its first `length` characters. */
interface Place {
  index: number
  length: number
}

/**
 * Types of the events of a model's answer. A replay repeats them in the same order. Other events can be missing in a replay, or be at
 * another place.
 */
const ANSWER = new Set<RunStreamEvent['type']>([
  'step-boundary',
  'start-step',
  'text-start',
  'text-delta',
  'text-end',
  'reasoning-start',
  'reasoning-delta',
  'reasoning-end',
  'tool-input-start',
  'tool-input-delta',
  'tool-input-available',
  'tool-input-error',
  'finish-step'
])
const BEGUN = new Set<RunStreamEvent['type']>(['text-start', 'reasoning-start', 'tool-input-start'])
const ENDS = new Set<RunStreamEvent['type']>(['error', 'abort', 'finish'])

const ANOTHER_ANSWER = 'The answer was cut, and the model was asked again.'

interface State {
  /** The answers of the models so far, without attempts at steps that broke off. */
  answers: Entry[]
  /** The place that the stream has reached; undefined at the beginning of a stream that can be of a later segment. */
  place: Place | undefined
  /** How often other events were read, by type and id. */
  read: Map<string, number>
  replayed: Map<string, number>
}

const isNew = (answers: readonly Entry[], { index, length }: Place): boolean =>
  index >= answers.length || (index === answers.length - 1 && isPiece(answers[index].event) && length === answers[index].text.length)

/** Adds an event to the answers and returns it. */
function add (state: State, entry: Entry): RunStreamEvent {
  const { answers } = state
  const last = answers.at(-1)
  if (isPiece(entry.event) && last?.key === entry.key) last.text += entry.text
  else answers.push({ ...entry })
  state.place = isPiece(entry.event)
    ? { index: answers.length - 1, length: answers.at(-1)!.text.length }
    : { index: answers.length, length: 0 }
  return entry.event
}

/** Drops the step at this place and everything after it. Returns the events that say so and repeat the step up to this place. */
function dropStep (state: State, { index, length }: Place): RunStreamEvent[] {
  const { answers } = state
  const last = answers.findLastIndex(({ event: { type } }, at) => at < index && (type === 'start-step' || type === 'finish-step'))
  const from = answers[last]?.event.type === 'finish-step' ? last + 1 : Math.max(last, 0)
  const dropped = answers.slice(from).flatMap(({ event }) => BEGUN.has(event.type) ? idOf(event) : [])
  const again = answers.slice(from, index)
  if (length > 0) again.push({ ...answers[index], text: answers[index].text.slice(0, length) })
  answers.length = from
  state.read = new Map(state.replayed)
  return [
    { type: 'data-retry', data: { attempt: 1, reason: ANOTHER_ANSWER, dropped } },
    { type: 'finish-step' },
    ...again.map((entry) => add(state, { ...entry, event: withText(entry.event, entry.text) }))
  ]
}

/** Passes an event of an answer: nothing of a repetition, and the rest of a piece that continues a known piece. */
function passAnswer (state: State, entry: Entry): RunStreamEvent[] {
  const { answers } = state
  const { key, text, event } = entry
  if (state.place === undefined) {
    if (idOf(event) === '') return []
    const index = answers.findIndex((each) => each.key === key)
    state.place = { index: index === -1 ? answers.length : index, length: 0 }
  }
  const { index, length } = state.place
  if (isPiece(event) && text === '') return isNew(answers, state.place) ? [event] : []
  if (isNew(answers, state.place)) return [add(state, entry)]
  const known = answers[index]
  if (key !== known.key && isPiece(known.event) && length === known.text.length) {
    state.place = { index: index + 1, length: 0 }
    return passAnswer(state, entry)
  }
  const rest = known.text.slice(length)
  if (key === known.key && (isPiece(event) ? rest.startsWith(text) : rest === text)) {
    state.place = isPiece(event) ? { index, length: length + text.length } : { index: index + 1, length: 0 }
    return []
  }
  if (key === known.key && isPiece(event) && index === answers.length - 1 && text.startsWith(rest)) {
    const fresh = text.slice(rest.length)
    return [add(state, { ...entry, text: fresh, event: withText(event, fresh) })]
  }
  return [...dropStep(state, state.place), add(state, entry)]
}

/** Passes the report that an attempt at a step broke off, unless only a replay has the attempt. */
function passRetry (state: State, event: RunStreamEvent): RunStreamEvent[] {
  const { answers, place = { index: answers.length, length: 0 } } = state
  const begun = answers.findLastIndex(({ event: { type } }, at) => at < place.index && type === 'start-step') + 1
  const isRead = isNew(answers, place)
  if (isRead) answers.length = begun
  state.place = { index: begun, length: 0 }
  return isRead ? [event] : []
}

/**
 * Creates a filter that passes each event of a segment (the part of a run between two waits for a person) once, even if the stream is
 * opened again. A reopened stream continues after the last event with an id, or starts again at the segment's first event if the service
 * does not know that id. A replay can join several pieces of text into one event; only the unread part of such an event passes. After a
 * kill of the service, the model is asked again and a replay can have another answer. The filter then passes `data-retry` for the step, and
 * the step from its beginning.
 */
export function createReplayFilter () {
  const state: State = { answers: [], place: { index: 0, length: 0 }, read: new Map(), replayed: new Map() }
  let marked = state.place
  /** Whether an attempt at a step broke off and the next attempt has not begun. */
  let isBroken = false
  /** The events that were counted since the last event with an id. A reopened stream repeats the events after that one. */
  let unmarked: string[] = []

  /** Counts an event that is in no answer. Returns whether it is new. */
  function count (key: string): boolean {
    const { read, replayed } = state
    const nth = (replayed.get(key) ?? 0) + 1
    replayed.set(key, nth)
    unmarked.push(key)
    const known = read.get(key) ?? 0
    read.set(key, Math.max(known, nth))
    return nth > known
  }

  return {
    /** Call when the stream was opened again at the first event of the segment or, if `isSame` is false, of the same or a later segment. */
    reopen (isSame = true) {
      state.place = isSame || state.answers.length === 0 ? { index: 0, length: 0 } : undefined
      state.replayed = new Map()
      isBroken = false
      unmarked = []
    },
    /** Call when the stream was opened again after the last event with an id. */
    resume () {
      state.place = marked
      for (const key of unmarked) state.replayed.set(key, state.replayed.get(key)! - 1)
      unmarked = []
    },
    /** Call after an event with an id: the stream can be opened again after it. */
    mark () {
      marked = state.place
      if (unmarked.length > 0) unmarked = []
    },

    /** Returns the event, or its new part; nothing if the event was read before; more if it shows that the answer is another one. */
    pass (event: RunStreamEvent): RunStreamEvent[] {
      const { answers, place } = state
      if (event.type === 'data-retry') {
        isBroken = true
        return passRetry(state, event)
      }
      const key = `${event.type} ${idOf(event)}`
      if (!ANSWER.has(event.type)) {
        const ended = ENDS.has(event.type) && place !== undefined && !isNew(answers, place) ? dropStep(state, place) : []
        return count(key) ? [...ended, event] : ended
      }
      if (!isBroken) return passAnswer(state, { key, text: textOf(event), event })
      isBroken = event.type !== 'start-step'
      return place === undefined || isNew(answers, place) ? [event] : []
    }
  }
}

type Piece = Extract<RunStreamEvent, { type: 'text-delta' | 'reasoning-delta' | 'tool-input-delta' }>

const isPiece = (event: RunStreamEvent): event is Piece =>
  event.type === 'text-delta' || event.type === 'reasoning-delta' || event.type === 'tool-input-delta'

function idOf (event: RunStreamEvent): string {
  const { id, approvalId, toolCallId } = event as { id?: string, approvalId?: string, toolCallId?: string }
  return id ?? approvalId ?? toolCallId ?? ''
}

/** Returns what two events with the same type and id can differ in. */
function textOf (event: RunStreamEvent): string {
  if (isPiece(event)) return event.type === 'tool-input-delta' ? event.inputTextDelta : event.content
  return event.type === 'tool-input-available' ? JSON.stringify(event.input) : ''
}

function withText (event: RunStreamEvent, text: string): RunStreamEvent {
  if (!isPiece(event)) return event
  return event.type === 'tool-input-delta' ? { ...event, inputTextDelta: text } : { ...event, content: text, delta: text }
}
