import { dirname, sep } from 'node:path'
import type { PathChange, UndoBody, Undone } from '../../schemas/undo.ts'
import { describeDiskFailure } from '../lib/disk-failure.ts'
import { newId } from '../lib/ids.ts'
import { foldCase, readPath } from '../lib/windows-path.ts'
import type { Store } from '../store/index.ts'
import type { PathPolicy } from '../tools/index.ts'
import { keepCall, type KeepParts } from './keep-call.ts'
import { plannedChanges, uncoveredCalls } from './run-changes.ts'
import { completedOps, type Work, workToContinue } from './works.ts'
import {
  type Chain, planRestore, restore, type Skipped, type RestorePlan
} from '../workspace/index.ts'
import { chainsOf } from './chains.ts'
import { APPLY, ApplyCutShort, UNDO, type Entry, NotChanged, UndoCutShort } from './undo-entry.ts'

type Entries = Array<[id: string, entry: Entry]>

/**
 * Takes back the changes of a run. What it replaces is kept under an id of its own, like the changes of a run. Throws
 * NotChanged (400) and CopiesUnavailable (503).
 */
export async function undoRun (
  runId: string,
  entries: Entries,
  { paths: wanted, dryRun = false }: UndoBody,
  { store, ...parts }: KeepParts & { store: Store }
): Promise<Undone> {
  const chains = select([...chainsOf(entries).values()], wanted, parts.paths)
  const notCovered = uncoveredCalls(entries)
  if (chains.length === 0) return { restored: [], skipped: [], notCovered }
  const plan = (more: PlanOptions) => wanted === undefined ? planUnnamed(chains, more, parts) : planRestore(chains, { ...parts, ...more })
  const { id, done, ...rest } = await undoChains(runId, entries, { chains, plan, dryRun }, { store, ...parts })
  return { ...(id !== undefined && { undoId: id }), restored: done, ...rest, notCovered }
}

/** Does what is left of an undo that the end of the service cut off, at the paths that it was to change. */
export async function continueUndo (
  runId: string,
  entries: Entries,
  among: ReadonlySet<string>,
  parts: KeepParts & { store: Store }
): Promise<void> {
  const chains = [...chainsOf(entries).values()].filter(({ path }) => among.has(path))
  const plan = (more: PlanOptions) => planRestore(chains, { ...parts, ...more })
  if (chains.length > 0) await undoChains(runId, entries, { chains, plan, dryRun: false }, parts)
}

async function undoChains (
  runId: string,
  entries: Entries,
  { chains, plan, dryRun }: { chains: Chain[], plan: Plan, dryRun: boolean },
  parts: KeepParts & { store: Store }
): Promise<Done> {
  const unuse = parts.space.use(entries.flatMap(([id, { contents = {} }]) => [id, ...Object.keys(contents)]))
  try {
    const { owner, cwd } = entries.at(-1)![1]
    return await carryOut(chains, plan, { of: runId, owner, cwd, toolName: UNDO, dryRun }, parts)
  } finally {
    unuse()
  }
}

interface PlanOptions {
  /** What was cut off is continued. */
  isContinued: boolean
}
type Plan = (options: PlanOptions) => Promise<RestorePlan>

interface Request {
  /** The run, or the undo, whose changes are taken back or over. */
  of: string
  owner: string
  cwd: string
  /** Stands for the tool in the record of what it changes. */
  toolName: string
  dryRun: boolean
}

/** What was done, or would be; `id` names the changes, if there are some. */
interface Done {
  id?: string
  done: string[]
  /** Of what would be done. */
  planned?: PathChange[]
  skipped: Skipped[]
}

/**
 * Plans and does the steps of chains, alone at their paths. What it replaces is kept under an id of its own, or under that of the work that
 * was cut off and is continued.
 */
async function carryOut (
  chains: Chain[],
  plan: Plan,
  { dryRun, ...request }: Request,
  parts: KeepParts & { store: Store }
): Promise<Done> {
  const unlock = dryRun ? () => {} : await parts.acquire(rootsOf(chains))
  try {
    const continued = await workToContinue(parts.store, request.of, request.toolName)
    const { steps, done, skipped } = await plan({ isContinued: continued !== undefined })
    const shown = (list: Chain[]) => list.filter(({ isParent }) => !isParent).map(({ path }) => path)
    const answer = (taken: Chain[], more: Skipped[] = []): Done => ({ done: [...done, ...shown(taken)], skipped: [...skipped, ...more] })
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

/** Makes paths as they are in a copy of their folder. Throws NotChanged (400) and CopiesUnavailable (503). */
export async function takeOver (
  all: Chain[],
  { paths: wanted, dryRun = false }: UndoBody,
  work: Pick<Request, 'of' | 'owner' | 'cwd'>,
  parts: KeepParts & { store: Store }
): Promise<Done> {
  const chains = select(all, wanted, parts.paths)
  if (chains.length === 0) return { done: [], skipped: [] }
  const plan = async () => {
    // What the folder had when it was copied is compared path by path.
    const { steps, ...rest } = await planRestore(chains, { ...parts, isContinued: true })
    return { ...rest, steps: addingFirst(steps) }
  }
  return carryOut(chains, plan, { ...work, toolName: APPLY, dryRun }, parts)
}

/**
 * Returns the steps with what is removed last, so that a file that moves is never in neither place. What is in the way of what comes goes
 * first: in a folder that becomes something else, or under the same name in another case.
 */
function addingFirst (steps: Chain[]): Chain[] {
  const coming = steps.filter(({ before }) => before !== null)
  const names = new Set(coming.map(({ path }) => path.toLowerCase()))
  const ending = coming.filter(({ before, left }) => left?.kind === 'folder' && before?.kind !== 'folder').map(({ path }) => path + sep)
  const isInTheWay = ({ path }: Chain) => names.has(path.toLowerCase()) || ending.some((folder) => path.startsWith(folder))
  const [first, last] = [true, false].map((isFirst) => steps.filter((step) => step.before === null && isInTheWay(step) === isFirst))
  return [...first, ...coming, ...last]
}

/** A plan without what others may have changed: only an undo that names such a path takes it back. */
async function planUnnamed (chains: Chain[], options: PlanOptions, parts: KeepParts): Promise<RestorePlan> {
  const plan = await planRestore(chains.filter(({ isShared }) => !isShared), { ...parts, ...options })
  const shared = await planRestore(chains.filter(({ isShared }) => isShared), { ...parts, ...options })
  const waiting = new Set(shared.steps.filter(({ isParent }) => !isParent).map(({ path, unit }) => unit?.path ?? path))
  const asked = [...waiting].map((path): Skipped => ({ path, reason: 'shared' }))
  return { ...plan, done: [...plan.done, ...shared.done], skipped: [...plan.skipped, ...shared.skipped, ...asked] }
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
  // A repository or a database goes as one thing.
  const units = new Set([...selected].flatMap(({ unit }) => unit ?? []))
  for (const chain of chains) if (chain.unit !== undefined && units.has(chain.unit)) selected.add(chain)
  const unchanged = wanted.find((path) => !found.has(path))
  if (unchanged !== undefined) throw new NotChanged(JSON.stringify(unchanged))
  // The folders that were made for a path go with it, when nothing else is in them; those that it was in come back for it.
  const above = new Set([...selected].flatMap(({ path }) => [...upwards(dirname(path))]))
  for (const chain of chains) {
    if ((chain.isParent || chain.before?.kind === 'folder') && above.has(chain.path)) selected.add(chain)
  }
  return [...selected]
}

/** Returns the places that paths name in a folder, each with the paths that name it. */
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

/** Yields a path and the folders that it is in. */
function * upwards (path: string): Generator<string> {
  yield path
  if (dirname(path) !== path) yield * upwards(dirname(path))
}

/** The paths that hold all the others. */
function rootsOf (chains: Chain[]): string[] {
  const roots: string[] = []
  for (const path of chains.map(({ path }) => path).sort()) {
    const last = roots.at(-1)
    if (last === undefined || !path.startsWith(last + sep)) roots.push(path)
  }
  return roots
}

/** Keeps what is there now, then does the steps. What cannot be kept stays, and so does a unit of which a part cannot be restored. */
async function apply (
  steps: Chain[],
  { of, owner, cwd, toolName, continued }: Omit<Request, 'dryRun'> & { continued?: Work },
  { store, ...parts }: KeepParts & { store: Store }
) {
  const id = continued?.id ?? newId()
  const { signal } = new AbortController()
  const places = steps.map(({ path }) => ({ path }))
  const call = { runId: id, owner, toolCallId: id, toolName, cwd, places, signal }
  const unitOf = new Map(steps.map(({ path, unit }) => [path, unit]))
  const kept = await keepCall(call, parts, { isLocked: true, of, unitOf: (path) => unitOf.get(path) })
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
