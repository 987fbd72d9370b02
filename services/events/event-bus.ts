import type { StreamEvent } from '../../schemas/events.ts'
import type { Clock } from '../lib/clock.ts'
import { newId } from '../lib/ids.ts'
import { createEventReaders, type EventReaders } from './event-readers.ts'
import { createReplayBuffer } from './replay-buffer.ts'

export type EventBus = ReturnType<typeof createEventBus>

/**
 * Creates the bus for all events of the service, in one order. The id of an event consists of an identifier of
 * this start of the service and a number. A reader can resume after an id as long as all later events are kept.
 * Emit an event only when the state that it reports is durable.
 */
export function createEventBus ({ clock }: { clock: Clock }) {
  /** Identifies this start of the service: 16 hexadecimal digits from its time and random bits. */
  const start = newId().replaceAll('-', '').slice(0, 16)
  const buffer = createReplayBuffer()
  const readers = createEventReaders({ clock, buffer, idOf: (position) => `${start}-${position}` })
  const listeners = new Set<(event: StreamEvent) => void>()

  function emit (event: StreamEvent) {
    const { type, threadId, taskId } = event as StreamEvent & { threadId?: string, taskId?: string }
    buffer.add({ type, threadId, taskId, frame: `event: ${type}\ndata: ${JSON.stringify(event)}\n\n` })
    readers.wake()
    for (const listener of listeners) listener(event)
  }

  /**
   * Returns the position after which a reader resumes that has received everything up to the event `id`, or the
   * reason why the reader cannot resume.
   */
  function resume (id: string): { after: number } | { reset: 'restarted' | 'too_old' | 'unknown' } {
    const [, started, number] = /^([0-9a-f]{16})-(\d{1,15})$/.exec(id) ?? []
    if (started === undefined || (started === start && Number(number) > buffer.newest)) return { reset: 'unknown' }
    if (started !== start) return { reset: 'restarted' }
    return buffer.holdsAfter(Number(number)) ? { after: Number(number) } : { reset: 'too_old' }
  }

  return {
    emit,

    /**
     * Writes the events of a view to a response until the response is closed: those after the event `lastId`, or
     * without `lastId` those from now on. If events after `lastId` are no longer kept, a `reset` event comes first.
     */
    stream (out: Parameters<EventReaders['add']>[0], view: Parameters<EventReaders['add']>[1], lastId?: string): void {
      const from = lastId === undefined ? { after: buffer.newest } : resume(lastId)
      if ('after' in from) return readers.add(out, view, { after: from.after })
      const reset: StreamEvent = { type: 'reset', reason: from.reset, at: clock.now() }
      readers.add(out, view, { after: buffer.newest, first: `event: reset\ndata: ${JSON.stringify(reset)}\n` })
    },

    /** Registers a listener that is called with each event. Returns the function that removes the listener. */
    onEvent (listener: (event: StreamEvent) => void): () => void {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    },

    /** The number of open streams. */
    get size () {
      return readers.size
    },

    /** Emits `service:shutdown` as the last event, and ends each stream once it has written this event. */
    close () {
      emit({ type: 'service:shutdown', at: clock.now() })
      readers.close()
    }
  }
}
