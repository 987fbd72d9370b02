import { resolve, sep } from 'node:path'
import type { UndoBody, Undone } from '../../schemas/undo.ts'
import { describeDiskFailure } from '../lib/disk-failure.ts'
import { newId } from '../lib/ids.ts'
import type { Store } from '../store/index.ts'
import { isSame, UNDO, type Entry, NotChanged, UndoCutShort } from './undo-entry.ts'
import { keepCall, type KeepParts } from './keep-call.ts'
import { chainsOf, isModeAlone, planUndo, type Chain, type Skipped } from './plan-undo.ts'
import { completeFolders, isIndependent, restore } from './restore.ts'
import { uncoveredCalls } from './run-changes.ts'
import { inBatches } from './survey.ts'

type Entries = Array<[id: string, entry: Entry]>

/**
 * Takes back the changes of a run. What it replaces is kept under an id of its own, like the changes of a run. Throws
 * NotChanged (400) and CopiesUnavailable (503).
 */
export async function undoRun (
  entries: Entries,
  { paths: wanted, dryRun = false }: UndoBody,
  { store, ...parts }: KeepParts & { store: Store }
): Promise<Undone> {
  const chains = select([...chainsOf(entries).values()], wanted)
  const notCovered = uncoveredCalls(entries)
  if (chains.length === 0) return { restored: [], skipped: [], notCovered }
  const unlock = dryRun ? () => {} : await parts.acquire(rootsOf(chains))
  const unuse = parts.space.use(entries.flatMap(([id, { contents = {} }]) => [id, ...Object.keys(contents)]))
  try {
    const { steps, done, skipped } = await planUndo(chains, parts)
    const shown = (list: Chain[]) => list.filter(({ isParent }) => !isParent).map(({ path }) => path)
    const answer = (restored: Chain[], more: Skipped[] = []): Undone =>
      ({ restored: [...done, ...shown(restored)], skipped: [...skipped, ...more], notCovered })
    if (dryRun || steps.length === 0) return answer(steps)
    const { undoId, restored, refused } = await apply(steps, entries.at(-1)![1], { store, ...parts })
    return { ...(restored.length > 0 && { undoId }), ...answer(restored, refused) }
  } finally {
    unuse()
    unlock()
  }
}

/** Returns the changes at or below the wanted paths. Throws NotChanged for a path that the run did not change. */
function select (chains: Chain[], wanted: string[] | undefined): Chain[] {
  if (wanted === undefined) return chains
  const selected = new Set<Chain>()
  for (const path of wanted) {
    const found = chains.filter((chain) => {
      const place = resolve(chain.cwd, path)
      return chain.path === place || chain.path.startsWith(place + sep)
    })
    if (!found.some(({ isParent }) => !isParent)) throw new NotChanged(JSON.stringify(path))
    for (const chain of found) selected.add(chain)
  }
  // The folders that were made for a path go with it, when nothing else is in them; those that it was in come back for it.
  for (const chain of chains) {
    const isFolder = chain.isParent || chain.before?.kind === 'folder'
    if (isFolder && [...selected].some(({ path }) => path.startsWith(chain.path + sep))) selected.add(chain)
  }
  return [...selected]
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

/** Keeps what is there now, then does the steps. What cannot be kept stays as it is. */
async function apply (steps: Chain[], { owner, cwd }: Entry, { store, ...parts }: KeepParts & { store: Store }) {
  const undoId = newId()
  const { signal } = new AbortController()
  const places = steps.map(({ path }) => ({ path }))
  const call = { runId: undoId, owner, toolCallId: undoId, toolName: UNDO, cwd, places, signal }
  const kept = await keepCall(call, parts, { isLocked: true })
  try {
    await store.transact(kept.ops)
  } catch (error) {
    await kept.discard()
    throw error
  }
  const found = new Map(kept.items.map((item, at) => [item.path, { ...item, at }]))
  const restored: Chain[] = []
  const refused: Skipped[] = []
  let failure: unknown
  async function takeBack (step: Chain): Promise<void> {
    const { before, notKept, at } = found.get(step.path)!
    const ofModes = isModeAlone(step)
    const skipped: Skipped | undefined = notKept !== undefined && !ofModes
      ? { path: step.path, reason: notKept }
      : ofModes || isSame(before, step.left)
        ? await restore(step, { ...parts, entryId: kept.id, at })
        : { path: step.path, reason: 'changed_since' }
    if (skipped === undefined) restored.push(step)
    else if (!step.isParent) refused.push(skipped)
  }
  try {
    for (let at = 0, next = 0; at < steps.length; at = next) {
      next = at + 1
      while (next < steps.length && isIndependent(steps[at]) && isIndependent(steps[next])) next++
      await inBatches(steps.slice(at, next), takeBack)
    }
    for (const step of await completeFolders(restored)) {
      restored.splice(restored.indexOf(step), 1)
      refused.push({ path: step.path, reason: 'not_allowed' })
    }
  } catch (error) {
    failure = error
  }
  await store.transact((await kept.finish()).ops)
  if (failure !== undefined) throw new UndoCutShort(describeDiskFailure(failure) ?? 'a file cannot be written')
  return { undoId, restored, refused }
}
