import { lstat } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import type { UndoReason } from '../../schemas/undo.ts'
import { foldCase } from '../lib/windows-path.ts'
import type { OwnFiles } from './open-folder.ts'
import { isSame, isUnchanged, modeOf, type Place } from './places.ts'
import type { Source } from './contents.ts'
import { inBatches, lookAt, namesAt } from './survey.ts'
import { isAddedObject, lookAtUse, type Unit, wasUsed } from './whole-units.ts'

/** Decides which paths an undo is allowed to change, see `PathPolicy` of the tools. */
export interface AllowedPaths extends OwnFiles {
  /** Returns where a recorded path leads now, if a run with the working folder `cwd` is allowed to change it. Throws PathRefused. */
  locateRecorded(path: string, cwd: string): Promise<string>
}

/** All changes of a run at one path, joined. */
export interface Chain {
  path: string
  /** The working folder of the newest call. */
  cwd: string
  /** What was there after the run. */
  left: Place | undefined
  /** What was there before the run. */
  before: Place
  /** Where the content of `before` is, if it is a file. */
  source?: Source
  /** The git directory or the database that the path belongs to. */
  unit?: Unit
  /** True if something else changed the path between two calls of the run; `before` is what was there after that. */
  isBroken: boolean
  isParent: boolean
  /** True if others might have made one of the changes. */
  isShared: boolean
  /** True if each of the changes concerned only permissions. */
  isOfModes: boolean
}

/** Whether restoring the permissions undoes the change. */
export const isModeAlone = ({ isOfModes, left, before }: Chain): boolean => isOfModes || isSame(left, before)

export interface Skipped {
  path: string
  reason: UndoReason
  /** An unexpected failure. */
  error?: unknown
}

/** What an undo would do: the changes to undo, the paths that are restored already, and those that are left unchanged. */
export interface RestorePlan {
  steps: Chain[]
  done: string[]
  /** For a unit, only its own path. */
  skipped: Skipped[]
  /** Why paths are left unchanged, including those in units. */
  reasons: Map<string, UndoReason>
}

interface PlanParts {
  paths: AllowedPaths
  /** The folder with the copies for undo. */
  folder: string
  /** True if an interrupted undo is continued: units can be restored partly. */
  isContinued?: boolean
  /** True if changes that others might have made are left unchanged. */
  leavesShared?: boolean
  /** True if files are restored before others are removed, so that a file that moves is always in one of the two places. */
  addsFirst?: boolean
}

/** What happens to a chain: a step (undefined), nothing because the path is restored already, or the reason to leave it unchanged. */
type Fate = UndoReason | 'done' | undefined

/** Compares the paths with what is there now, and orders the steps. */
export async function planRestore (chains: Iterable<Chain>, parts: PlanParts): Promise<RestorePlan> {
  const all = [...chains].filter((chain) => !isAddedObject(chain, chain.unit))
  const fates = await compareAll(all, parts)
  const units = Map.groupBy(all.filter(({ unit }) => unit !== undefined), ({ unit }) => unit!)
  for (const [unit, members] of units) {
    const reason = await whyUnitStays(unit, members.map((chain) => fates.get(chain)), parts)
    if (reason === undefined) continue
    const isWith = ({ unit: other }: Chain) => other === unit || (other !== undefined && other.replacedBy === unit.path)
    for (const chain of all.filter(isWith)) fates.set(chain, reason)
  }
  if (parts.leavesShared) for (const chain of all) if (chain.isShared && fates.get(chain) === undefined) fates.set(chain, 'shared')
  const stepsOf = () => all.filter((chain) => fates.get(chain) === undefined)
  const [names, there] = [new Map<Chain, string[] | undefined>(), new Map<string, boolean>()]
  let steps = stepsOf()
  await inBatches(steps.filter(isCleared), async (step) => names.set(step, await namesIn(step)))
  const folders = new Set(steps.map(({ path }) => dirname(path)))
  await inBatches([...folders], async (path) => there.set(path, await lstat(path).then((found) => found.isDirectory(), () => false)))
  // Paths that are left unchanged can keep others from being removed: the folder that contains them, and the unit to which they belong.
  for (let stuck = stuckAmong(steps, names, there); stuck.size > 0; stuck = stuckAmong(steps, names, there)) {
    for (const chain of stuck) {
      const { unit } = chain
      if (unit === undefined) fates.set(chain, 'changed_since')
      else for (const each of units.get(unit)!) fates.set(each, usedSince(unit))
    }
    steps = stepsOf()
  }
  return planOf(all, fates, parts)
}

function planOf (all: Chain[], fates: Map<Chain, Fate>, { addsFirst = false }: PlanParts): RestorePlan {
  const plan: RestorePlan = { steps: [], done: [], skipped: [], reasons: new Map() }
  const left = new Set<string>()
  const skip = ({ path, unit }: Chain, reason: UndoReason) => {
    plan.reasons.set(path, reason)
    const place = unit?.path ?? path
    if (!left.has(place)) plan.skipped.push({ path: place, reason })
    left.add(place)
  }
  for (const chain of all) {
    const fate = fates.get(chain)
    if (fate === undefined) plan.steps.push(chain)
    else if (chain.isParent) continue
    else if (fate === 'done') plan.done.push(chain.path)
    else skip(chain, fate)
    if (chain.isBroken && (fate === undefined || fate === 'done')) skip(chain, 'changed_since')
  }
  plan.steps = inOrder(plan.steps, addsFirst)
  return plan
}

/**
 * Orders steps: first the removals, from the inside out, then what is made again. With `addsFirst`, removals come last, except those that
 * clear the way for something new: in a folder that becomes something else, or of a path that is made again in another case. The objects of
 * a repository come before anything that names them.
 */
function inOrder (steps: Chain[], addsFirst: boolean): Chain[] {
  const removed = steps.filter(({ before }) => before === null).sort((a, b) => a.path < b.path ? 1 : -1)
  const coming = steps.filter(({ before }) => before !== null).sort((a, b) => a.path < b.path ? -1 : 1)
  const folders = new Set(coming.map(({ path }) => path))
  const names = new Set(coming.map(({ path }) => path.toLowerCase()))
  const ending = coming.filter(isCleared).map(({ path }) => path + sep)
  const isFirst = ({ path }: Chain) => !addsFirst || names.has(path.toLowerCase()) || ending.some((folder) => path.startsWith(folder))
  const isEarly = ({ path, unit }: Chain) =>
    unit?.kind === 'repository' && !folders.has(unit.path) && path.startsWith(join(unit.path, 'objects') + sep)
  return [
    ...removed.filter(isFirst),
    ...coming.filter(isEarly),
    ...coming.filter((step) => !isEarly(step)),
    ...removed.filter((step) => !isFirst(step))
  ]
}

/** Returns why a unit that somebody has used is left unchanged. */
export const usedSince = ({ kind }: Unit): UndoReason => kind === 'repository' ? 'repository-used-since' : 'changed_since'

/** Returns why a unit is left unchanged; undefined if it can be restored, or is restored already. */
async function whyUnitStays (unit: Unit, fates: Fate[], { paths, isContinued }: PlanParts): Promise<UndoReason | undefined> {
  if (fates.every((fate) => fate === 'done')) {
    // The content of a side file might have moved into the database since.
    const isAsBefore = unit.kind === 'repository' || (await lookAtUse(unit, paths)).digest === unit.before
    return isAsBefore ? undefined : usedSince(unit)
  }
  const other = fates.find((fate) => fate !== undefined && fate !== 'done')
  // A part that was not kept, or a folder that must not be used, is no sign that somebody used the unit.
  if (other === 'too_large' || other === 'not_allowed') return other
  if (unit.isBroken || (!isContinued && await wasUsed(unit, paths))) return usedSince(unit)
  return other === 'changed_since' || other === 'link' ? usedSince(unit) : other as UndoReason | undefined
}

async function compareAll (chains: Chain[], parts: PlanParts): Promise<Map<Chain, Fate>> {
  const parents = new Map<string, Promise<UndoReason | undefined>>()
  const allowed = (path: string, cwd: string) => {
    const key = dirname(path)
    if (!parents.has(key)) parents.set(key, whyNotAllowed(path, cwd, parts.paths))
    return parents.get(key)!
  }
  // If a folder was replaced by a link, nothing that was in the folder is there: the target of the link is something else.
  const links = chains.filter(({ left, before }) => left?.kind === 'link' && before?.kind === 'folder')
  const linkAbove = ({ path }: Chain) => links.find((link) => path.startsWith(link.path + sep))
  const fates = new Map<Chain, Fate>()
  await inBatches(chains.filter((chain) => linkAbove(chain) === undefined), async (chain) =>
    fates.set(chain, await allowed(chain.path, chain.cwd) ?? await compare(chain, parts)))
  await inBatches(chains.filter((chain) => linkAbove(chain) !== undefined), async (chain) =>
    fates.set(chain, fates.get(linkAbove(chain)!) === undefined ? await compareFound(chain, null, null, parts) : 'link'))
  return fates
}

/** Returns why a path must not be changed now; undefined if it can be changed. */
async function whyNotAllowed (path: string, cwd: string, paths: AllowedPaths): Promise<UndoReason | undefined> {
  try {
    return foldCase(await paths.locateRecorded(path, cwd)) === foldCase(path) ? undefined : 'link'
  } catch (error) {
    if (!isPathFailure(error)) throw error
    return 'not_allowed'
  }
}

async function compare (chain: Chain, parts: PlanParts): Promise<Fate> {
  const { path, left, before } = chain
  const { paths } = parts
  try {
    const now = await lookAt(path, left ?? before, { paths })
    // A file that could not be read before might be readable now.
    const isUnread = isModeAlone(chain) && !isSame(left, before)
    return await compareFound(chain, now, isUnread ? await lookAt(path, before, { paths }) : now, parts)
  } catch (error) {
    if (!isPathFailure(error)) throw error
    return 'link'
  }
}

/** Whether a path cannot be used because a link is in the way, or because somebody has just changed it. */
const isPathFailure = (error: unknown): boolean =>
  ['ERR_PATH_REFUSED', 'ELOOP', 'ENOENT', 'ENOTDIR', 'EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')

async function compareFound (chain: Chain, now: Place, read: Place, { folder }: PlanParts): Promise<Fate> {
  const { left, before, source } = chain
  const ofModes = isModeAlone(chain)
  if (ofModes ? isUnchanged(read, before) : isSame(now, before)) return 'done'
  if (!isSame(now, left)) return now === null ? 'gone' : now.kind === 'link' ? 'link' : 'changed_since'
  // Somebody else has changed the permissions: these are kept, even if the content is restored.
  const isOtherMode = modeOf(now) !== modeOf(left)
  if (ofModes) return isOtherMode ? 'changed_since' : undefined
  if (isOtherMode && now?.kind === 'file' && before?.kind === 'file') chain.before = { ...before, mode: now.mode }
  if (before === null || before.kind === 'link') return undefined
  if (source?.notKept !== undefined) return source.notKept
  if (before.kind === 'other') return 'gone'
  if (before.kind === 'folder' || before.size === 0 || source?.from !== undefined) return undefined
  if (source?.copy === undefined || source.key === undefined) return 'gone'
  return lstat(join(folder, source.copy.file)).then(() => undefined, () => 'gone')
}

/** Whether a step removes a folder, or replaces it by something else. */
const isCleared = ({ left, before }: Chain): boolean => left?.kind === 'folder' && before?.kind !== 'folder'

/** Returns the names in a folder; undefined if they cannot be read. */
const namesIn = ({ path }: Chain): Promise<string[] | undefined> => namesAt(path).catch(() => undefined)

/** Returns the steps that are impossible: the folder that they remove would not be empty, or the folder that they need would not exist. */
function stuckAmong (
  steps: Chain[],
  names: ReadonlyMap<Chain, string[] | undefined>,
  there: ReadonlyMap<string, boolean>
): Set<Chain> {
  const going = new Set(steps.filter((step) => step.before === null && !isCleared(step)).map(({ path }) => path))
  const stuck = new Set<Chain>()
  // From the inside out.
  for (const step of steps.filter(isCleared).sort((a, b) => a.path < b.path ? 1 : -1)) {
    const isEmpty = names.get(step)?.every((name) => going.has(join(step.path, name))) === true
    if (!isEmpty) stuck.add(step)
    else if (step.before === null) going.add(step.path)
  }
  const coming = new Set<string>()
  // A folder comes before what is in it.
  for (const step of steps.filter(({ before }) => before !== null).sort((a, b) => a.path < b.path ? -1 : 1)) {
    if (!coming.has(dirname(step.path)) && !there.get(dirname(step.path))) stuck.add(step)
    else if (step.before?.kind === 'folder' && !stuck.has(step)) coming.add(step.path)
  }
  return stuck
}
