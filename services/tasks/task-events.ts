import type { TaskStreamEvent } from '../../schemas/task-events.ts'
import type { Clock } from '../lib/clock.ts'

/** A listener that takes no event for this long while events wait is dropped; milliseconds. */
const STALL_MS = 30_000
/**
 * A listener with more than MAX_LAG characters queued is dropped after LAG_MS instead. The delay spares a listener that
 * reads promptly while the service itself is slow.
 */
const MAX_LAG = 1024 * 1024
const LAG_MS = 1_000
/** Characters queued for one listener above which it is dropped at once. */
const MAX_QUEUED = 8 * MAX_LAG

/** An event as it is sent: its name and its JSON, serialized once for all listeners. */
export interface SerializedTaskEvent {
  event: string
  data: string
}

export type TaskEvents = ReturnType<typeof createTaskEvents>

/** Sends the events of tasks to all listeners. There is no replay, and a slow listener is dropped instead of slowing the service. */
export function createTaskEvents ({ clock }: { clock: Clock }) {
  const listeners = new Set<Listener>()

  return {
    emit (event: TaskStreamEvent | { type: string }) {
      if (listeners.size === 0) return
      const serialized: SerializedTaskEvent = { event: event.type, data: JSON.stringify(event) }
      for (const listener of listeners) listener.push(serialized)
    },

    get size () {
      return listeners.size
    },

    /** Yields events from now on, until the signal aborts, `close` is called, or the listener is dropped, which calls `onDrop`. */
    listen (signal: AbortSignal, onDrop: () => void): AsyncGenerator<SerializedTaskEvent> {
      const listener = createListener({
        clock,
        onDrop () {
          listeners.delete(listener)
          onDrop()
        }
      })
      listeners.add(listener)
      const unsubscribe = () => {
        listeners.delete(listener)
        listener.end()
      }
      if (signal.aborted) unsubscribe()
      signal.addEventListener('abort', unsubscribe, { once: true })
      return listener.events()
    },

    /** Ends every listener after the events that are already queued. */
    close () {
      for (const listener of listeners) listener.end()
      listeners.clear()
    }
  }
}

type Listener = ReturnType<typeof createListener>

function createListener ({ clock, onDrop }: { clock: Clock, onDrop: () => void }) {
  let queue: SerializedTaskEvent[] = []
  let queued = 0
  /** The time since which the first queued event waits; `clock.awake()`. */
  let waitsSince = 0
  let ended = false
  let wake = Promise.withResolvers<void>()

  const end = () => {
    ended = true
    wake.resolve()
  }

  return {
    end,

    push (event: SerializedTaskEvent) {
      const now = clock.awake()
      if (queue.length === 0) waitsSince = now
      // The lag before this event counts, so that a single large event never drops a listener.
      if (now - waitsSince > (queued > MAX_LAG ? LAG_MS : STALL_MS) || queued > MAX_QUEUED) {
        queue = []
        end()
        return onDrop()
      }
      queue.push(event)
      queued += event.data.length
      wake.resolve()
    },

    async * events (): AsyncGenerator<SerializedTaskEvent> {
      for (;;) {
        for (let event = queue.shift(); event !== undefined; event = queue.shift()) {
          queued -= event.data.length
          waitsSince = clock.awake()
          yield event
        }
        if (ended) return
        wake = Promise.withResolvers()
        await wake.promise
      }
    }
  }
}
