import type { RunStreamEvent } from './generated/index.ts'

/**
 * Lets each event of a segment pass once, although its stream is opened again: behind the last event with an id, or from the first event of
 * the segment where the service does not know that id. A replay may join pieces of text; what was not read of a piece passes.
 */
export function createReplayFilter () {
  /** By block, call or type of event: the characters or events that were read. */
  const read = new Map<string, number>()
  let replayed = new Map<string, number>()
  /** The events after the last one with an id: a reconnected stream repeats them. */
  const unmarked = new Map<string, number>()

  /** Returns how many of `length` units are new. */
  const fresh = (key: string, length: number): number => {
    const from = replayed.get(key) ?? 0
    replayed.set(key, from + length)
    unmarked.set(key, (unmarked.get(key) ?? 0) + length)
    const known = read.get(key) ?? 0
    read.set(key, Math.max(known, from + length))
    return Math.min(length, Math.max(0, from + length - known))
  }

  return {
    /** The stream is opened again, from the first event of the segment. */
    reopen () {
      replayed = new Map()
      unmarked.clear()
    },
    /** The stream is opened again behind the last event with an id. */
    resume () {
      for (const [key, length] of unmarked) replayed.set(key, replayed.get(key)! - length)
      unmarked.clear()
    },
    /** The stream can be opened again behind the event that passed last. */
    mark () {
      unmarked.clear()
    },

    /** Returns the event, or the part of it that is new; undefined for one that was read before. */
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
