import { lstat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { UndoReason } from '../../schemas/undo.ts'
import { foldCase } from '../lib/windows-path.ts'
import type { OwnFiles } from './open-folder.ts'
import { isSame, isUnchanged, type Copy, type Item, type Place } from './places.ts'
import { inBatches, lookAt, namesAt } from './survey.ts'

/** What may be changed, see `PathPolicy` of the tools. */
export interface AllowedPaths extends OwnFiles {
  /** Returns the real path of a place that may be changed from a working folder. Throws PathRefused. */
  locate(path: string, cwd: string): Promise<string>
}

/** What the entries of a run say of one path. */
export interface Chain {
  path: string
  /** The working folder of the newest call. */
  cwd: string
  /** What the run left. */
  left: Place | undefined
  /** What was there before. */
  before: Place
  /** Where the content of `before` is, when it is a file: in a kept copy, or at the real path `from`. */
  source?: { id: string, key?: string, copy?: Copy, notKept?: Item['notKept'], from?: string }
  /** Something else changed the path between two calls of the run; `before` is what it left. */
  isBroken: boolean
  isParent: boolean
  /** One of the changes may be the work of others. */
  isShared: boolean
  /** Each of the changes was one of permissions. */
  isOfModes: boolean
}

/** Whether giving back the permissions takes back the change. */
export const isModeAlone = ({ isOfModes, left, before }: Chain): boolean => isOfModes || isSame(left, before)

export interface Skipped {
  path: string
  reason: UndoReason
}

/** What an undo would do: the changes to take back, the paths that are as before already, and those that stay. */
export interface UndoPlan {
  steps: Chain[]
  done: string[]
  skipped: Skipped[]
}

/** Compares the paths with what is there now, and sorts the steps: first what is removed, from the inside out, then what comes back. */
export async function planUndo (chains: Iterable<Chain>, { paths, folder }: { paths: AllowedPaths, folder: string }): Promise<UndoPlan> {
  const plan: UndoPlan = { steps: [], done: [], skipped: [] }
  const parents = new Map<string, Promise<UndoReason | undefined>>()
  const allowed = (path: string, cwd: string) => {
    const key = dirname(path)
    if (!parents.has(key)) parents.set(key, whyNotAllowed(path, cwd, paths))
    return parents.get(key)!
  }
  const compared = await inBatches([...chains], async (chain) => ({
    chain,
    reason: await allowed(chain.path, chain.cwd) ?? await compare(chain, { paths, folder })
  }))
  for (const { chain, reason } of compared) {
    if (reason === undefined) plan.steps.push(chain)
    else if (chain.isParent) continue
    else if (reason === 'done') plan.done.push(chain.path)
    else plan.skipped.push({ path: chain.path, reason })
    if (chain.isBroken && (reason === undefined || reason === 'done')) plan.skipped.push({ path: chain.path, reason: 'changed_since' })
  }
  const removed = plan.steps.filter(({ before }) => before === null).sort((a, b) => a.path < b.path ? 1 : -1)
  const restored = plan.steps.filter(({ before }) => before !== null).sort((a, b) => a.path < b.path ? -1 : 1)
  plan.steps = [...await withoutFilled(removed, plan), ...await withoutLost(restored, plan)]
  return plan
}

/** Why a path is not to be touched today; undefined when it may be. */
async function whyNotAllowed (path: string, cwd: string, paths: AllowedPaths): Promise<UndoReason | undefined> {
  try {
    return foldCase(await paths.locate(path, cwd)) === foldCase(path) ? undefined : 'link'
  } catch {
    return 'not_allowed'
  }
}

async function compare (
  chain: Chain,
  { paths, folder }: { paths: OwnFiles, folder: string }
): Promise<UndoReason | 'done' | undefined> {
  const { path, left, before, source } = chain
  const ofModes = isModeAlone(chain)
  let now: Place
  let read: Place
  try {
    now = await lookAt(path, left ?? before, { paths })
    // A file that could not be read may be readable by now.
    read = ofModes && !isSame(left, before) ? await lookAt(path, before, { paths }) : now
  } catch {
    return 'link'
  }
  if (ofModes ? isUnchanged(read, before) : isSame(now, before)) return 'done'
  if (!isSame(now, left)) return now === null ? 'gone' : now.kind === 'link' ? 'link' : 'changed_since'
  if (ofModes) return undefined
  if (before === null || before.kind === 'link') return undefined
  if (source?.notKept !== undefined) return source.notKept
  if (before.kind === 'other') return 'gone'
  if (before.kind === 'folder' || before.size === 0 || source?.from !== undefined) return undefined
  if (source?.copy === undefined || source.key === undefined) return 'gone'
  return lstat(join(folder, source.id)).then(() => undefined, () => 'gone')
}

/** The names in what is to be removed; undefined when they cannot be read. */
const namesIn = async ({ path, left }: Chain): Promise<string[] | undefined> =>
  left?.kind === 'folder' ? namesAt(path).catch(() => undefined) : []

/** Leaves out the folders that hold something that stays. */
async function withoutFilled (removed: Chain[], plan: UndoPlan): Promise<Chain[]> {
  const going = new Set<string>()
  return (await inBatches(removed, async (step) => ({ step, names: await namesIn(step) })))
    .filter(({ step, names }) => {
      const isEmpty = names?.every((name) => going.has(join(step.path, name))) === true
      if (isEmpty) going.add(step.path)
      else if (!step.isParent) plan.skipped.push({ path: step.path, reason: 'changed_since' })
      return isEmpty
    })
    .map(({ step }) => step)
}

/** Leaves out what has no folder to be put into: somebody removed it, or something else is there. */
async function withoutLost (restored: Chain[], plan: UndoPlan): Promise<Chain[]> {
  const there = new Map<string, Promise<boolean>>()
  const isThere = (folder: string) => {
    if (!there.has(folder)) there.set(folder, lstat(folder).then((found) => found.isDirectory(), () => false))
    return there.get(folder)!
  }
  const coming = new Set<string>()
  const kept: Chain[] = []
  // A folder comes before what is in it.
  for (const step of restored) {
    const folder = dirname(step.path)
    if (coming.has(folder) || await isThere(folder)) {
      if (step.before?.kind === 'folder') coming.add(step.path)
      kept.push(step)
    } else if (!step.isParent) plan.skipped.push({ path: step.path, reason: 'changed_since' })
  }
  return kept
}
