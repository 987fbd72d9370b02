import { dirname, join, relative } from 'node:path'
import { chainsOf } from './chains.ts'
import type { OwnFiles } from './open-folder.ts'
import { isSame, type Item, type Place, UNREAD } from './places.ts'
import { type AllowedPaths, type Chain, planRestore, type Skipped } from './plan-restore.ts'
import type { RestoreParts } from './restore-step.ts'
import { restore } from './restore.ts'
import { inBatches, lookAt } from './survey.ts'
import type { Difference } from './tree-rpc.ts'
import { rowAt } from './walk-tree.ts'
import { SIDE_FILES, unitsBefore } from './whole-units.ts'

/** A folder of git's loose objects. */
const FAN_OUT = /(?:^|[\\/])objects[\\/][\da-f]{2}$/

/** Returns the folders of git's objects that a folder needs for new objects and does not have, because git removes empty ones. */
function missingFanOut (differences: readonly Difference[], folder: string): Difference[] {
  const known = new Set(differences.map(({ path }) => path))
  const needed = new Set([...known].map((path) => dirname(path)).filter((path) => FAN_OUT.test(path) && !known.has(path)))
  return [...needed].filter((path) => rowAt(join(folder, path)) === undefined).map((path) => ({ path, isOtherAsItWas: true }))
}

/**
 * Returns the steps that make the folder `to` equal to the folder `from` at these paths. One of the two is a copy of the other. A path that
 * has changed in `to` is left unchanged, unless it is the same in both. `isClone`: a file of `to` whose size shows that it differs is not
 * read, but identified by its stat.
 */
export async function chainsOfCopy (
  differences: readonly Difference[],
  { from, to, paths, isClone = false }: { from: string, to: string, paths: OwnFiles, isClone?: boolean }
): Promise<Chain[]> {
  const otherOf = (path: string) => join(from, relative(to, path))
  const needed = missingFanOut(differences, to)
  const items = await inBatches([...differences, ...needed], async ({ path: inner, isOtherAsItWas, expected }): Promise<Item> => {
    const path = join(to, inner)
    // If a folder above was replaced by a link, nothing that was in the folder is there.
    const before = await lookAt(otherOf(path), undefined, { paths }).catch((error): Place => {
      if (!['ERR_PATH_REFUSED', 'ELOOP'].includes(error.code)) throw error
      return null
    })
    const lookAs = (like: Place | undefined) => lookAt(path, like, { paths }).catch((): Place | undefined => undefined)
    const look = async () => {
      const unread = isClone && before?.kind === 'file' ? await lookAs(UNREAD) : undefined
      return unread?.kind === 'file' && before?.kind === 'file' && unread.size !== before.size ? unread : lookAs(undefined)
    }
    const after = expected === undefined && isOtherAsItWas ? await look() : expected
    return { path, before, after, from: otherOf(path), ...before?.kind === 'other' && { notKept: 'gone' } }
  })
  const units = await unitsBefore(items, paths, { isSought: true })
  const named = new Set(items.map(({ path }) => path))
  for (const [path, unit] of Object.entries(units)) {
    // A side file that the copy does not change must be the same in both.
    const sides = unit.kind === 'database' ? SIDE_FILES.map((side) => path + side).filter((side) => !named.has(side)) : []
    const isSameSide = async (side: string) =>
      isSame(await lookAt(side, undefined, { paths }), await lookAt(otherOf(side), undefined, { paths }))
    unit.isBroken = (await inBatches(sides, isSameSide)).includes(false)
  }
  const changes = items.filter(({ unit }, at) => unit !== undefined || at < differences.length)
  return [...chainsOf([{ cwd: to, items: changes, units }]).values()].reverse()
}

/**
 * Makes a copy equal to its folder at the paths, where that is possible. Files are written in `drafts` before they get their names. Returns
 * the paths that are the same in both afterwards, and unexpected failures.
 */
export async function refreshClone (
  differences: readonly Difference[],
  { from, to, drafts, ...parts }: { from: string, to: string, drafts: string, paths: AllowedPaths } & Pick<RestoreParts, 'clock'>
): Promise<{ brought: string[], failed: Skipped[] }> {
  const chains = await chainsOfCopy(differences, { from, to, paths: parts.paths, isClone: true })
  // The folders of a copy stay open to their owner, because the copy must be deleted later.
  for (const { before } of chains) if (before?.kind === 'folder') before.mode |= 0o700
  const { steps, done } = await planRestore(chains, { ...parts, folder: drafts, isContinued: true })
  const items = steps.map(({ path, left = null }) => ({ path, before: left }))
  const room = { ...parts, folder: drafts, drafts, isChecked: false }
  const { restored, refused, failure } = await restore(steps, { items }, room)
  if (failure !== undefined) throw failure
  const brought = [...done, ...restored.map(({ path }) => path)]
  return { brought, failed: refused.filter(({ error }) => error !== undefined) }
}
