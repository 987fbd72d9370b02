/** Runs work that shares a key one after the other; different keys side by side. */
export function createKeyedLock () {
  const tails = new Map<string, Promise<unknown>>()

  return async function locked<T> (key: string, work: () => Promise<T>): Promise<T> {
    const before = tails.get(key) ?? Promise.resolve()
    const turn = before.then(work, work)
    const tail = turn.catch(() => {})
    tails.set(key, tail)
    try {
      return await turn
    } finally {
      if (tails.get(key) === tail) tails.delete(key)
    }
  }
}
