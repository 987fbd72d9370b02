/** Lets `most` pieces of work run at once. Others wait for their turn, `waiting` of them; `busy` makes the error for who comes then. */
export function createSemaphore ({ most, waiting, busy }: { most: number, waiting: number, busy: () => Error }) {
  const queue: Array<() => void> = []
  let taken = 0

  /** Resolves when a slot is handed over; rejects when the signal aborts first. */
  const turn = (signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const enter = () => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const leave = () => {
        queue.splice(queue.indexOf(enter), 1)
        reject(signal.reason)
      }
      queue.push(enter)
      signal.addEventListener('abort', leave, { once: true })
    })

  return {
    /** Whether nothing runs. */
    get idle (): boolean {
      return taken === 0
    },

    async run<T> (signal: AbortSignal, work: () => Promise<T>): Promise<T> {
      signal.throwIfAborted()
      if (taken < most) taken++
      else if (queue.length < waiting) await turn(signal)
      else throw busy()
      try {
        return await work()
      } finally {
        const next = queue.shift()
        if (next) next()
        else taken--
      }
    }
  }
}
