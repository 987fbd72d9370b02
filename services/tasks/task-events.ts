import type { TaskStreamEvent } from '../../schemas/task-events.ts'
import type { Clock } from '../lib/clock.ts'

/** A listener that takes nothing for so long is dropped, */
const STALL_MS = 30_000
/** and one that is so far behind after so long: where the service is what is slow, it took what it was given. */
const MAX_LAG = 1024 * 1024
const LAG_MS = 1_000
/** Whatever the reason, no more is kept for one. */
const MOST = 8 * MAX_LAG

/** An event as it is written: its name and its JSON, made once for all listeners. */
export interface TaskEventSubscription {
  event: string
  data: string
}

export type TaskEvents = ReturnType<typeof createTaskEvents>

/** Tells every listener what happens to tasks. There is no replay; nobody waits for a slow listener. */
export function createTaskEvents ({ clock }: { clock: Clock }) {
  const listeners = new Set<Listener>()

  return {
    emit (event: TaskStreamEvent | { type: string }) {
      if (listeners.size === 0) return
      const told: TaskEventSubscription = { event: event.type, data: JSON.stringify(event) }
      for (const listener of listeners) listener.tell(told)
    },

    get size () {
      return listeners.size
    },

    /** Events from now on, until the signal aborts, the bus closes, or the listener is dropped: then `onDrop` is called. */
    listen (signal: AbortSignal, onDrop: () => void): AsyncGenerator<TaskEventSubscription> {
      const listener = createListener({
        clock,
        onDrop () {
          listeners.delete(listener)
          onDrop()
        }
      })
      listeners.add(listener)
      const leave = () => {
        listeners.delete(listener)
        listener.end()
      }
      if (signal.aborted) leave()
      signal.addEventListener('abort', leave, { once: true })
      return listener.events()
    },

    /** Lets every listener have what waits, and no more. */
    close () {
      for (const listener of listeners) listener.end()
      listeners.clear()
    }
  }
}

type Listener = ReturnType<typeof createListener>

function createListener ({ clock, onDrop }: { clock: Clock, onDrop: () => void }) {
  let queue: TaskEventSubscription[] = []
  let bytes = 0
  /** Since when the first in the queue has been waiting. */
  let waitsSince = 0
  let ended = false
  let wake = Promise.withResolvers<void>()

  const end = () => {
    ended = true
    wake.resolve()
  }

  return {
    end,

    tell (told: TaskEventSubscription) {
      const now = clock.awake()
      if (queue.length === 0) waitsSince = now
      // What counts is how far it was behind before: one event may be as large as it is.
      if (now - waitsSince > (bytes > MAX_LAG ? LAG_MS : STALL_MS) || bytes > MOST) {
        queue = []
        end()
        return onDrop()
      }
      queue.push(told)
      bytes += told.data.length
      wake.resolve()
    },

    async * events (): AsyncGenerator<TaskEventSubscription> {
      for (;;) {
        for (let told = queue.shift(); told !== undefined; told = queue.shift()) {
          bytes -= told.data.length
          waitsSince = clock.awake()
          yield told
        }
        if (ended) return
        wake = Promise.withResolvers()
        await wake.promise
      }
    }
  }
}
