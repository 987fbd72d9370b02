/** Creates a lock that runs work with the same key one after the other, and work with different keys concurrently. */
export function createKeyedLock () {
  const tails = new Map<string, Promise<unknown>>()

  return async function locked<T> (key: string, work: () => Promise<T>): Promise<T> {
    const previous = tails.get(key) ?? Promise.resolve()
    const current = previous.then(work, work)
    const tail = current.catch(() => {})
    tails.set(key, tail)
    try {
      return await current
    } finally {
      if (tails.get(key) === tail) tails.delete(key)
    }
  }
}
