// The messages of a thread are stored in the order in which they were written, each under a number. Messages that a turn replaces stay
// stored. The path of a thread is the list of the numbers of the messages that the conversation has now. A position is an index on this
// path.

/** A range of numbers, from the first up to but without the second. */
export type Span = readonly [from: number, to: number]

/** Where the messages of a thread are stored. */
export interface StoredPath {
  /** The number of message records on the path. An answer is one record, even if it has several messages. */
  messageCount: number
  /** The path of the thread; undefined if it is the range from 0 to `messageCount`. */
  path?: readonly Span[]
  /** The first number that is not used; undefined if it equals `messageCount`. */
  end?: number
}

/** Returns the path of a thread, from its first message on. */
export const pathOf = ({ messageCount, path = messageCount === 0 ? [] : [[0, messageCount]] }: StoredPath): readonly Span[] => path

export const lengthOf = (spans: readonly Span[]): number => spans.reduce((sum, [from, to]) => sum + to - from, 0)

/** Returns all numbers in the spans. */
export const numbersIn = (spans: readonly Span[]): number[] =>
  spans.flatMap(([from, to]) => Array.from({ length: to - from }, (_, n) => from + n))

export const holds = (spans: readonly Span[], number: number): boolean => spans.some(([from, to]) => number >= from && number < to)

/**
 * Returns the number of the message at a position of a path. Positions outside the path have the numbers that precede its first number or
 * follow its last one.
 */
export function numberAt (path: readonly Span[], position: number): number {
  let left = position
  for (const [from, to] of path) {
    if (left < to - from) return from + left
    left -= to - from
  }
  return (path.at(-1)?.[1] ?? 0) + left
}

/** Returns the position of a number on a path; undefined if the number is not on the path. */
export function positionOf (path: readonly Span[], number: number): number | undefined {
  let position = 0
  for (const [from, to] of path) {
    if (number >= from && number < to) return position + number - from
    position += to - from
  }
  return undefined
}

/** Returns the part of a path between two positions. */
export function slicePath (path: readonly Span[], begin: number, end = Infinity): Span[] {
  let position = 0
  return path.flatMap(([from, to]): Span[] => {
    const first = Math.max(from, from + begin - position)
    const last = Math.min(to, from + end - position)
    position += to - from
    return first < last ? [[first, last]] : []
  })
}

/** Joins two paths into one. */
export function joinPaths (one: readonly Span[], other: readonly Span[]): Span[] {
  const joined: Array<[number, number]> = []
  for (const [from, to] of [...one, ...other]) {
    const last = joined.at(-1)
    if (from === to) continue
    if (last !== undefined && last[1] === from) last[1] = to
    else joined.push([from, to])
  }
  return joined
}

/** The places of new messages, and the messages that are removed for them. */
export interface WritePlan {
  /** The position of the first new message. */
  from: number
  /** The number of the first new message. */
  begin: number
  path: Span[]
  /** Whether the new messages reuse the numbers of removed messages. */
  isOver: boolean
  /** The numbers of messages that are removed. */
  gone: Span[]
}

/**
 * Plans a write of `length` messages at position `from` of a thread, in place of all later messages. Later messages from position
 * `keepFrom` on are kept, but not on the path; the others are removed.
 */
export function planWrite (head: StoredPath, { from, length, keepFrom = Infinity }: {
  from: number,
  length: number,
  keepFrom?: number
}): WritePlan {
  const path = pathOf(head)
  const end = head.end ?? head.messageCount
  const last = path.at(-1)
  // Numbers at the end that become free are reused.
  const begin = keepFrom === Infinity && last !== undefined && last[1] === end ? Math.max(last[0], numberAt(path, from)) : end
  const written: Span = [begin, begin + length]
  return {
    from,
    begin,
    path: joinPaths(slicePath(path, 0, from), [written]),
    isOver: begin < end,
    gone: slicePath(path, from, keepFrom).flatMap((span) => without(span, written))
  }
}

const without = ([from, to]: Span, [begin, end]: Span): Span[] =>
  [[from, Math.min(to, begin)] as const, [Math.max(from, end), to] as const].filter(([first, last]) => first < last)

/** Returns the fields of a thread head for a path. `end` is the first number that is not used. */
export function pathFields (path: readonly Span[], end: number): StoredPath {
  const messageCount = lengthOf(path)
  const isPlain = path.length === 0 || (path.length === 1 && path[0][0] === 0)
  return { messageCount, path: isPlain ? undefined : path, end: end === messageCount ? undefined : end }
}
