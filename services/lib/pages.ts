import { jsonBytes, PAGE_BYTES } from './json.ts'

/**
 * Takes one page of the found items: at most `limit`, and not much more than PAGE_BYTES of JSON. `pick` returns the public form of an item,
 * or undefined to leave the item out. `nextCursor` is the cursor of the last item on the page, if there are more.
 */
export async function takePage<T, V> (
  found: AsyncIterable<T>,
  { limit, pick, cursorOf }: { limit: number, pick: (each: T) => V | undefined, cursorOf: (each: T) => string }
): Promise<{ page: V[], nextCursor?: string }> {
  const page: V[] = []
  let bytes = 0
  let last: T | undefined
  for await (const each of found) {
    const item = pick(each)
    if (item === undefined) continue
    bytes += jsonBytes(item)
    if (page.length === limit || (page.length > 0 && bytes > PAGE_BYTES)) return { page, nextCursor: cursorOf(last!) }
    page.push(item)
    last = each
  }
  return { page }
}
