/**
 * Returns the first value of an iterable, or undefined if it has none, and closes the iterable. An iterator of the store that is not
 * closed keeps its snapshot, and so the tables that compaction has replaced.
 */
export async function firstOf<T> (values: AsyncIterable<T>): Promise<T | undefined> {
  const iterator = values[Symbol.asyncIterator]()
  try {
    const { done, value } = await iterator.next()
    return done ? undefined : value
  } finally {
    await iterator.return?.()
  }
}
