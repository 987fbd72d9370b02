import type { Divergence, UserTurn } from './user-turn.ts'

interface Match {
  /** The turns that the request and the thread have in common. */
  keep: number
  /** The turns of the thread. */
  count: number
  /** Whether the request's earlier messages are in the thread one after the other, up to these turns. */
  isGapless: boolean
  /** Whether the request says something new: it neither edits a message nor asks for another answer. */
  isPlain: boolean
  /** Returns the chain of a message that follows the messages of a chain. */
  chainOf: (chain: string, own: string) => string
}

/**
 * Finds which turns stay although a chat's request leaves them out, because another tab said them: its messages are a gapless part of the
 * thread, or of the thread as this chat knows it, which `seen` of its earlier turns tells. `newest` are the last turns of the thread.
 * Returns undefined if the request leaves them out on purpose, such as after an edit.
 */
export function keptOfOtherTabs (
  newest: UserTurn[],
  requestTurns: UserTurn[],
  { keep, count, isGapless, isPlain, chainOf }: Match
): Omit<Divergence, 'since'> | undefined {
  const said = requestTurns.at(-1)!
  const seen = requestTurns.at(-2)!.chain
  const isSame = (turn: UserTurn) => said.id === undefined || turn.id === undefined ? turn.own === said.own : turn.id === said.id
  // The chat's own turn again, edited or for another answer: what other tabs said before it stays.
  const again = newest.findIndex((turn) => turn.seen === seen && isSame(turn))
  if (again !== -1) return { keep: count - newest.length + again, seen }
  if (!isPlain) return undefined
  const own = newest.findLastIndex((turn) => turn.seen !== undefined && chainOf(turn.seen, turn.own) === seen)
  if (own === -1 && !isGapless) return undefined
  // A message that the thread has already is sent again: what followed it goes.
  const left = own === -1 ? newest.slice(Math.max(0, newest.length - (count - keep))) : newest.slice(own + 1)
  return left.some(isSame) ? undefined : { keep: count, seen }
}
