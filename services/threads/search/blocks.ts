import { type Op, searchPlacesKey, searchWordsKey } from '../../store/index.ts'
import type { ThreadHead } from '../thread-head.ts'

/** Messages of a thread that one part of its index covers. */
export const BLOCK = 250
export const blockOf = (position: number) => Math.floor(position / BLOCK)
export const blockCount = ({ messageCount }: ThreadHead) => Math.ceil(messageCount / BLOCK)

/** Returns the version of a block. The index of a block is good if it was made of this version. */
export const versionOf = ({ blocks, updatedAt }: ThreadHead, block: number) => blocks?.[block] ?? updatedAt

/** Returns the versions of the blocks after the messages from a position on changed. */
export function versionsAfter (before: ThreadHead, after: ThreadHead, { from, now }: { from: number, now: number }): number[] {
  const known = before.blocks ?? []
  const version = Math.max(now, ...known.map((each) => each + 1))
  return Array.from({ length: blockCount(after) }, (_, block) => (block < blockOf(from) ? known[block] : undefined) ?? version)
}

/** Returns the operations that remove the index of these blocks. */
export function removeBlocks (thread: string, { from, to }: { from: number, to: number }): Op[] {
  const ops: Op[] = []
  for (let block = from; block < to; block++) {
    ops.push({ type: 'del', key: searchWordsKey(thread, block) }, { type: 'del', key: searchPlacesKey(thread, block) })
  }
  return ops
}
