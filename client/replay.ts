import type { RunStreamEvent } from './generated/index.ts'

/**
 * Creates a filter that passes each event of a segment (the part of a run between two waits for a person) once, even if the stream is
 * opened again. A reopened stream continues after the last event with an id, or starts again at the segment's first event if the service
 * does not know that id. A replay can join several pieces of text into one event; only the unread part of such an event passes.
 */
export function createReplayFilter () {
  /** The number of characters or events that were read, by block, tool call or event type. */
  const read = new Map<string, number>()
  let replayed = new Map<string, number>()
  /** The numbers of `read` that were counted since the last event with an id. A reopened stream repeats the events after that one. */
  const unmarked = new Map<string, number>()

  /** Returns how many of the next `length` characters or events are new. */
  const fresh = (key: string, length: number): number => {
    const from = replayed.get(key) ?? 0
    replayed.set(key, from + length)
    unmarked.set(key, (unmarked.get(key) ?? 0) + length)
    const known = read.get(key) ?? 0
    read.set(key, Math.max(known, from + length))
    return Math.min(length, Math.max(0, from + length - known))
  }

  return {
    /** Call when the stream was opened again at the first event of the segment. */
    reopen () {
      replayed = new Map()
      unmarked.clear()
    },
    /** Call when the stream was opened again after the last event with an id. */
    resume () {
      for (const [key, length] of unmarked) replayed.set(key, replayed.get(key)! - length)
      unmarked.clear()
    },
    /** Call after an event with an id: the stream can be opened again after it. */
    mark () {
      unmarked.clear()
    },

    /** Returns the event, or its new part; undefined if the event was read before. */
    pass (event: RunStreamEvent): RunStreamEvent | undefined {
      switch (event.type) {
        case 'text-delta':
        case 'reasoning-delta': {
          const length = fresh(`${event.type} ${event.id}`, event.content.length)
          if (length === event.content.length) return event
          const content = event.content.slice(event.content.length - length)
          return content === '' ? undefined : { ...event, content, delta: content }
        }
        case 'tool-input-delta': {
          const length = fresh(`${event.type} ${event.toolCallId}`, event.inputTextDelta.length)
          const inputTextDelta = event.inputTextDelta.slice(event.inputTextDelta.length - length)
          return inputTextDelta === '' ? undefined : { ...event, inputTextDelta }
        }
        default: {
          const { id, approvalId, toolCallId } = event as { id?: string, approvalId?: string, toolCallId?: string }
          return fresh(`${event.type} ${id ?? approvalId ?? toolCallId ?? ''}`, 1) === 1 ? event : undefined
        }
      }
    }
  }
}
