interface Entry {
  runId: string
}

/**
 * Merges lists that are each sorted by the ids of runs, newest first, into one. A run that is in several lists is yielded once. Each
 * list is read only as far as its reader goes.
 */
export async function * newestFirst<T extends Entry> (lists: Array<AsyncIterable<T> | Iterable<T>>): AsyncGenerator<T> {
  const readers = lists.map((list) => Symbol.asyncIterator in list ? list[Symbol.asyncIterator]() : list[Symbol.iterator]())
  try {
    const heads = await Promise.all(readers.map(async (reader) => await reader.next()))
    for (let last: string | undefined; ;) {
      let first = -1
      for (const [at, { done, value }] of heads.entries()) {
        if (!done && (first === -1 || value.runId > (heads[first].value as T).runId)) first = at
      }
      if (first === -1) return
      const entry = heads[first].value as T
      heads[first] = await readers[first].next()
      if (entry.runId === last) continue
      last = entry.runId
      yield entry
    }
  } finally {
    await Promise.all(readers.map((reader) => reader.return?.()))
  }
}
