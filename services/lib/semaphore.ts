/**
 * Creates a semaphore. At most `limit` pieces of work run at once and `maxQueued` wait for a slot; further calls throw the
 * error that `busy` makes.
 */
export function createSemaphore ({ limit, maxQueued, busy }: { limit: number, maxQueued: number, busy: () => Error }) {
  const queue: Array<() => void> = []
  let running = 0

  /** Resolves when a slot is handed over; rejects when the signal aborts first. */
  const waitForSlot = (signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const onSlot = () => {
        signal.removeEventListener('abort', onAbort)
        resolve()
      }
      const onAbort = () => {
        queue.splice(queue.indexOf(onSlot), 1)
        reject(signal.reason)
      }
      queue.push(onSlot)
      signal.addEventListener('abort', onAbort, { once: true })
    })

  return {
    /** Whether nothing runs. */
    get idle (): boolean {
      return running === 0
    },

    async run<T> (signal: AbortSignal, work: () => Promise<T>): Promise<T> {
      signal.throwIfAborted()
      if (running < limit) running++
      else if (queue.length < maxQueued) await waitForSlot(signal)
      else throw busy()
      try {
        return await work()
      } finally {
        const next = queue.shift()
        if (next) next()
        else running--
      }
    }
  }
}
