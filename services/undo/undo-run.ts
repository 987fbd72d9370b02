import { dirname, sep } from 'node:path'
import type { PathChange, UndoBody, Undone } from '../../schemas/undo.ts'
import { describeDiskFailure } from '../lib/disk-failure.ts'
import { newId } from '../lib/ids.ts'
import { foldCase, readPath } from '../lib/windows-path.ts'
import type { PathPolicy } from '../tools/index.ts'
import { keepCall } from './keep-call.ts'
import { plannedChanges, uncoveredCalls } from './run-changes.ts'
import { completedOps, type Work, workToContinue } from './works.ts'
import { type Chain, chainsOf, planRestore, restore, type Skipped } from '../workspace/index.ts'
import { APPLY, ApplyCutShort, type Entry, type KeepParts, NotChanged, UNDO, UndoCutShort } from './undo-entry.ts'

interface Request {
  /** The run, or the undo, whose changes are undone or applied. */
  of: string
  owner: string
  cwd: string
  /** The name that replaces the name of a tool in the record of the changes. */
  toolName: typeof UNDO | typeof APPLY
  dryRun: boolean
  /** True if the caller named the paths. Then changes that others might have made are undone, too. */
  isNamed: boolean
}

/** The result of an undo or an apply, or of its preview. `id` identifies the changes that it made, if there are any. */
interface Done {
  id?: string
  done: string[]
  /** For a preview: the changes that would be made. */
  planned?: PathChange[]
  skipped: Skipped[]
}

/**
 * Undoes the changes of a run. `among` continues an interrupted undo: it contains the paths that this one was to change. What is replaced
 * is kept under an id of its own, like the changes of a run. Throws NotChanged (400) and CopiesUnavailable (503).
 */
export async function undoRun (
  runId: string,
  entries: readonly Entry[],
  { paths: wanted, dryRun = false }: UndoBody,
  parts: KeepParts,
  among?: ReadonlySet<string>
): Promise<Undone> {
  const all = [...chainsOf(entries).values()]
  const chains = among === undefined ? select(all, wanted, parts.paths) : all.filter(({ path }) => among.has(path))
  const notCovered = uncoveredCalls(entries)
  if (chains.length === 0) return { restored: [], skipped: [], notCovered }
  const { owner, cwd } = entries.at(-1)!
  const isNamed = wanted !== undefined || among !== undefined
  const unuse = parts.space.use(entries.flatMap(({ id, contents = {} }) => [id, ...Object.keys(contents)]))
  try {
    const { id, done, ...rest } = await carryOut(chains, { of: runId, owner, cwd, toolName: UNDO, dryRun, isNamed }, parts)
    return { ...(id !== undefined && { undoId: id }), restored: done, ...rest, notCovered }
  } finally {
    unuse()
  }
}

/** Makes paths of a folder equal to those of its copy. Throws NotChanged (400) and CopiesUnavailable (503). */
export async function takeOver (
  all: Chain[],
  { paths: wanted, dryRun = false }: UndoBody,
  work: Pick<Request, 'of' | 'owner' | 'cwd'>,
  parts: KeepParts
): Promise<Done> {
  const chains = select(all, wanted, parts.paths)
  if (chains.length === 0) return { done: [], skipped: [] }
  return carryOut(chains, { ...work, toolName: APPLY, dryRun, isNamed: true }, parts)
}

/**
 * Plans and executes the steps of the chains (the joined changes of each path), while their paths are locked. What is replaced is kept
 * under an id of its own, or under the id of the interrupted undo or apply that is continued.
 */
async function carryOut (chains: Chain[], request: Request, parts: KeepParts): Promise<Done> {
  const { of, toolName, dryRun, isNamed } = request
  const unlock = dryRun ? () => {} : await parts.acquire(rootsOf(chains))
  try {
    const continued = await workToContinue(parts.store, of, toolName)
    const addsFirst = toolName === APPLY
    // For an apply, the present folder is compared path by path with its state when it was copied.
    const isContinued = addsFirst || continued !== undefined
    const { steps, done, skipped } = await planRestore(chains, { ...parts, isContinued, leavesShared: !isNamed, addsFirst })
    const pathsOf = (list: Chain[]) => list.filter(({ isParent }) => !isParent).map(({ path }) => path)
    const answer = (taken: Chain[], more: Skipped[] = []): Done => ({ done: [...done, ...pathsOf(taken)], skipped: [...skipped, ...more] })
    if (dryRun) return { ...answer(steps), planned: await plannedChanges(steps, parts) }
    if (steps.length === 0) {
      if (continued !== undefined) await parts.store.transact(completedOps(continued))
      return { ...continued && { id: continued.id }, ...answer(steps) }
    }
    const { id, restored, refused } = await apply(steps, { ...request, continued }, parts)
    return { ...((restored.length > 0 || continued !== undefined) && { id }), ...answer(restored, refused) }
  } finally {
    unlock()
  }
}

/** Returns the changes at or below the wanted paths. Throws NotChanged for a path that the run did not change. */
function select (chains: Chain[], wanted: string[] | undefined, paths: Pick<PathPolicy, 'inCopy'>): Chain[] {
  if (wanted === undefined) return chains
  const places = new Map([...new Set(chains.map(({ cwd }) => cwd))].map((cwd) => [cwd, placesOf(wanted, cwd, paths)]))
  const selected = new Set<Chain>()
  const found = new Set<string>()
  for (const chain of chains) {
    for (const place of upwards(foldCase(chain.path))) {
      const names = places.get(chain.cwd)!.get(place)
      if (names === undefined) continue
      selected.add(chain)
      if (!chain.isParent) for (const name of names) found.add(name)
    }
  }
  // A repository or a database is undone as a whole.
  const units = new Set([...selected].flatMap(({ unit }) => unit ?? []))
  for (const chain of chains) if (chain.unit !== undefined && units.has(chain.unit)) selected.add(chain)
  const unchanged = wanted.find((path) => !found.has(path))
  if (unchanged !== undefined) throw new NotChanged(JSON.stringify(unchanged))
  // Folders that were made for a path are removed with it if they are empty then. Folders that contained the path are made again.
  const above = new Set([...selected].flatMap(({ path }) => upwards(dirname(path))))
  for (const chain of chains) {
    if ((chain.isParent || chain.before?.kind === 'folder') && above.has(chain.path)) selected.add(chain)
  }
  return [...selected]
}

/** Returns the places in a folder that the paths name, each with the paths that name it. */
function placesOf (wanted: string[], cwd: string, paths: Pick<PathPolicy, 'inCopy'>): Map<string, string[]> {
  const places = new Map<string, string[]>()
  for (const path of wanted) {
    const reading = readPath(path, cwd)
    if ('refused' in reading) continue
    const place = foldCase(paths.inCopy(reading.path, cwd))
    places.set(place, [...places.get(place) ?? [], path])
  }
  return places
}

/** Returns a path and the folders above it. */
const upwards = (path: string): string[] => path === dirname(path) ? [path] : [path, ...upwards(dirname(path))]

/** Returns the outermost paths, which contain all others. */
function rootsOf (chains: Chain[]): string[] {
  const roots: string[] = []
  for (const path of chains.map(({ path }) => path).sort()) {
    const last = roots.at(-1)
    if (last === undefined || !path.startsWith(last + sep)) roots.push(path)
  }
  return roots
}

/**
 * Keeps what is there now, then executes the steps. A path whose content cannot be kept is left unchanged, and so is a unit if a part of it
 * cannot be restored.
 */
async function apply (
  steps: Chain[],
  { of, owner, cwd, toolName, continued }: Request & { continued?: Work },
  parts: KeepParts
) {
  const { store } = parts
  const id = continued?.id ?? newId()
  const { signal } = new AbortController()
  const places = steps.map(({ path }) => ({ path }))
  const call = { runId: id, owner, toolCallId: id, toolName, cwd, places, signal }
  const kept = await keepCall(call, parts, { isLocked: true, of, units: new Map(steps.map(({ path, unit }) => [path, unit])) })
  try {
    await store.transact(kept.ops)
  } catch (error) {
    await kept.discard()
    throw error
  }
  const isChecked = toolName === UNDO && continued === undefined
  const { restored, refused, failure } = await restore(steps, kept, { ...parts, isChecked })
  const { ops } = await kept.finish(undefined, failure !== undefined)
  await store.transact(failure === undefined && continued !== undefined ? [...ops, ...completedOps(continued)] : ops)
  const reason = failure === undefined ? undefined : describeDiskFailure(failure)
  if (failure !== undefined && reason === undefined) throw failure
  if (reason !== undefined) throw toolName === APPLY ? new ApplyCutShort(reason) : new UndoCutShort(reason)
  for (const { path, error } of refused) if (error !== undefined) parts.log.warn({ err: error, path }, 'a path could not be restored')
  return { id, restored, refused: refused.map(({ path, reason }) => ({ path, reason })) }
}
