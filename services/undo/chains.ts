import { type Chain, isSame, type Item } from '../workspace/index.ts'
import type { Entry } from './undo-entry.ts'

/** Where the content of what was there before a change is. */
export const sourceOf = ({ copy, notKept }: Item, id: string, { key, contents }: Entry): NonNullable<Chain['source']> =>
  copy?.file === undefined ? { id, key, copy, notKept } : { id: copy.file, key: contents?.[copy.file], copy, notKept }

/** Joins the changes of a run, path by path, from the newest back to where somebody else changed the path in between. */
export function chainsOf (entries: Array<[id: string, entry: Entry]>): Map<string, Chain> {
  const chains = new Map<string, Chain>()
  for (const [id, entry] of entries.toReversed()) {
    const { cwd } = entry
    for (const item of entry.items.toReversed()) {
      const { path, before, after, isUnread = false, isParent = false, isShared = false } = item
      const later = chains.get(path)
      if (later?.isBroken) continue
      if (later !== undefined && !isSame(after, later.before)) {
        later.isBroken = true
        continue
      }
      chains.set(path, {
        path,
        cwd: later?.cwd ?? cwd,
        left: later === undefined ? after : later.left,
        before,
        source: sourceOf(item, id, entry),
        isBroken: false,
        isParent: isParent && (later?.isParent ?? true),
        isShared: isShared || (later?.isShared ?? false),
        isOfModes: (isUnread || isSame(after, before)) && (later?.isOfModes ?? true)
      })
    }
  }
  return chains
}
