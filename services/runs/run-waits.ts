import type { StreamEvent } from '../../schemas/stream-events.ts'
import type { Clock } from '../lib/clock.ts'
import { TooManyWaits } from './run-errors.ts'

/** Requests that may wait at once. */
const MAX_WAITS = 256

/** The events after which a run is looked at again. */
const isNews = ({ type }: StreamEvent) => type === 'run:end' || type === 'approval:open' || type === 'tool-call:open'

interface Wait {
  /** Milliseconds. */
  ms: number
  /** Ends the wait. */
  signal: AbortSignal
}

/** Lets requests wait for runs. */
export function createRunWaits (
  { clock, events }: { clock: Clock, events: { onEvent(listener: (event: StreamEvent) => void): () => void } }
) {
  const closing = new AbortController()
  let waits = 0

  return {
    /**
     * Reads until `isSettled` says that it is enough: once now, and again after each event that may have changed the run. Resolves to
     * what was read last when the time is over, the signal aborts or the service ends. Throws TooManyWaits (429).
     */
    async until<T> (runId: string, read: () => Promise<T>, isSettled: (value: T) => boolean, { ms, signal }: Wait): Promise<T> {
      if (waits === MAX_WAITS) throw new TooManyWaits(MAX_WAITS)
      waits++
      let news = Promise.withResolvers<void>()
      // From before the first reading, so that no change is missed.
      const unsubscribe = events.onEvent((event) => {
        if ('runId' in event && event.runId === runId && isNews(event)) news.resolve()
      })
      const over = new AbortController()
      const end = AbortSignal.any([signal, closing.signal, over.signal])
      const late = clock.sleep(ms, end).catch(() => {}).then(() => true)
      try {
        for (;;) {
          const value = await read()
          if (isSettled(value)) return value
          if (await Promise.race([late, news.promise.then(() => false)])) return await read()
          news = Promise.withResolvers()
          // The events are told before the run that writes them goes on.
          await new Promise(setImmediate)
        }
      } finally {
        unsubscribe()
        over.abort('answered')
        waits--
      }
    },

    /** Ends every wait. */
    close: () => closing.abort('closing')
  }
}
