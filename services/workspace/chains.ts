import { dirname, sep } from 'node:path'
import type { Source } from './contents.ts'
import { isSame, type Item } from './places.ts'
import type { Chain } from './plan-restore.ts'
import type { Unit, Units } from './whole-units.ts'

/** What a call changed, or what changes if a folder becomes equal to its copy. */
export interface Changes {
  /** The working folder. */
  cwd: string
  items: readonly Item[]
  units?: Units
  /** The keys of the files of copies that the items name. */
  contents?: Record<string, string>
}

/** Returns where the previous content of a changed path is kept. */
export const sourceOf = ({ copy, notKept, from }: Item, { contents }: Pick<Changes, 'contents'>): Source =>
  ({ copy, key: copy && contents?.[copy.file], notKept, from })

/**
 * Joins the changes of a run into one chain for each path: the consecutive changes from the newest one back to the first, or back to the
 * point where somebody else changed the path. An undo restores the state before the oldest change of the chain.
 */
export function chainsOf (entries: readonly Changes[]): Map<string, Chain> {
  const chains = new Map<string, Chain>()
  const units = unitsIn(entries)
  for (const entry of entries.toReversed()) {
    for (const item of entry.items.toReversed()) {
      const { path, before, after, unit, isUnread = false, isParent = false, isShared = false } = item
      const later = chains.get(path)
      if (later?.isBroken) continue
      if (later !== undefined && !isSame(after, later.before)) {
        later.isBroken = true
        continue
      }
      chains.set(path, {
        path,
        cwd: later?.cwd ?? cwdOf(item, entry),
        left: later === undefined ? after : later.left,
        before,
        source: sourceOf(item, entry),
        unit: unit === undefined ? undefined : units.get(unit),
        isBroken: false,
        isParent: isParent && (later?.isParent ?? true),
        isShared: isShared || (later?.isShared ?? false),
        isOfModes: (isUnread || isSame(after, before)) && (later?.isOfModes ?? true)
      })
    }
  }
  const shared = new Set([...chains.values()].flatMap(({ isShared, unit }) => isShared && unit !== undefined ? [unit] : []))
  for (const chain of chains.values()) chain.isShared ||= chain.unit !== undefined && shared.has(chain.unit)
  return chains
}

/**
 * Returns the working folder that an item belongs to: that of its call or, for a git directory outside of it, the folder that contains the
 * git directory. A command in a part of a repository can change such a git directory.
 */
const cwdOf = ({ path, unit }: Item, { cwd }: Changes): string =>
  unit === undefined || path.startsWith(cwd.endsWith(sep) ? cwd : cwd + sep) ? cwd : dirname(unit)

/**
 * Joins the records of each unit (git directory or database): its state before the first call, and after the last one. `isBroken` means
 * that somebody else used the unit in between.
 */
function unitsIn (entries: readonly Changes[]): Map<string, Unit> {
  const found = new Map<string, Unit>()
  for (const { units = {} } of entries.toReversed()) {
    for (const [path, unit] of Object.entries(units)) {
      const later = found.get(path)
      if (later === undefined) found.set(path, { ...unit })
      else Object.assign(later, { before: unit.before, isBroken: later.isBroken || unit.after !== later.before })
    }
  }
  return found
}
