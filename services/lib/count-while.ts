/** Counts, by binary search, the first items for which `holds` is true. From the first item for which it is false on, it must be false. */
export function countWhile<T> (items: readonly T[], holds: (item: T) => boolean): number {
  let [low, high] = [0, items.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (holds(items[middle])) low = middle + 1
    else high = middle
  }
  return low
}
