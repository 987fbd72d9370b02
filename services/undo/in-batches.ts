/** How many paths are examined or written side by side. */
const WIDTH = 32

/** Does the work for each element, several side by side, and returns the results in order. Rejects when nothing is under way any more. */
export async function inBatches<T, R> (list: readonly T[], work: (element: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (let at = 0; at < list.length; at += WIDTH) {
    const batch = list.slice(at, at + WIDTH).map(work)
    await Promise.allSettled(batch)
    results.push(...await Promise.all(batch))
  }
  return results
}
