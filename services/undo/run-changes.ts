import { dirname, relative, sep } from 'node:path'
import type { FileChangeView, PathChange, RunChanges, UncoveredCall } from '../../schemas/undo.ts'
import { unifiedDiff } from '../tools/index.ts'
import {
  type Chain,
  chainsOf,
  describeChange,
  inBatches,
  isAddedObject,
  isSame,
  type Item,
  lookAt,
  type Place,
  planRestore,
  readText,
  type RestorePlan,
  sourceOf
} from '../workspace/index.ts'
import type { Entry, KeepParts } from './undo-entry.ts'

type Parts = Pick<KeepParts, 'paths' | 'folder'>
type Entries = readonly Entry[]

/** Returns the calls of a run whose effects the service does not know. */
export function uncoveredCalls (entries: Entries): UncoveredCall[] {
  const calls = entries.flatMap(({ toolCallId, toolName, at, uncovered }) =>
    uncovered === undefined ? [] : [{ toolCallId, toolName, at, ...uncovered }]
  )
  // After a crash, a call might have been passed to the application twice.
  return [...new Map(calls.map((call) => [call.toolCallId, call])).values()]
}

/**
 * Returns a page of the changes of a run, oldest first, one for each path that a call named. `cursor` is the number of the first change.
 */
export async function runChanges (
  entries: Entries,
  { limit, cursor = '0' }: { limit: number, cursor?: string },
  parts: Parts
): Promise<Omit<RunChanges, 'followUps'>> {
  const all = entries.filter(({ ended }) => ended).flatMap((entry) => changesOf(entry).map((change) => ({ entry, ...change })))
  const from = Number(cursor)
  const page = all.slice(from, from + limit)
  const named = page.map(({ item }) => item.path)
  const isNamed = ({ path }: { path: string }) => named.some((root) => path === root || path.startsWith(root + sep))
  const plan = await planRestore([...chainsOf(entries).values()].filter(isNamed), parts)
  const changes: FileChangeView[] = []
  for (const { entry, item, moved, inner } of page) {
    const { toolCallId, toolName, at, cwd, diff: made } = entry
    const step = { ...item, source: sourceOf(item, entry) }
    const diff = made ?? (moved === undefined ? await diffOf(cwd, step, { ...item, before: item.after }, parts) : undefined)
    changes.push({ ...pathChange(item, moved, diff), toolCallId, toolName, at, ...(inner > 0 && { inner }), ...fateOf(item.path, plan) })
  }
  return { changes, notCovered: uncoveredCalls(entries), ...(from + limit < all.length && { nextCursor: String(from + limit) }) }
}

/** Returns the changes of one entry: the outermost paths, without the folders that were made above them. */
function changesOf ({ items: all, roots, units }: Entry): Array<{ item: Item, moved?: Item, inner: number }> {
  const named = new Set(roots)
  // Objects that were added to a repository are never removed: there is nothing to decide about them.
  const items = all.filter((item) => !isAddedObject(item, units?.[item.unit ?? '']))
  // A folder that was made or removed represents its content; a folder of which only the permissions changed does not.
  const whole = new Set(items.flatMap(({ path, before, after, isParent }) => isParent || isSame(before, after) ? [] : [path]))
  const inner = new Map<string, number>()
  const isInner = ({ path }: Item): boolean => {
    let isFound = false
    for (let above = dirname(path); above !== dirname(above); above = dirname(above)) {
      inner.set(above, (inner.get(above) ?? 0) + 1)
      isFound ||= whole.has(above)
    }
    return isFound
  }
  const isShown = ({ path }: Item) => named.size === 0 || items.length <= 100 || named.has(path)
  const outer = items.filter((item) => !isInner(item) && !item.isParent && isShown(item))
  // If a command made and removed folders, it is unknown whether one was renamed to the other.
  return joinMoves(outer, { withFolders: named.size > 0 }).map(({ change, moved }) =>
    ({ item: change, moved, inner: inner.get(change.path) ?? 0 }))
}

/** A path, and what is there before and after a change. */
interface Change {
  path: string
  before: Place | undefined
  after?: Place
}

/** Joins each move: a change in which something appears gets the change in which the same thing disappears elsewhere, as `moved`. */
function joinMoves<T extends Change> (changes: readonly T[], { withFolders = false } = {}): Array<{ change: T, moved?: T }> {
  const kindOf = (place: Place | undefined) => place?.kind === 'file' ? place.digest : place?.kind
  const gone = Map.groupBy(changes.filter(({ before, after }) => before !== null && after === null), ({ before }) => kindOf(before))
  const moves = new Map<T, T>()
  for (const change of changes) {
    const { path, before, after } = change
    if (!after || isSame(before, after) || (after.kind === 'folder' && !withFolders)) continue
    const likely = gone.get(kindOf(after)) ?? []
    const at = likely.findIndex((other) => other.path !== path && isSame(other.before, after))
    if (at !== -1) moves.set(change, likely.splice(at, 1)[0])
  }
  const movedAway = new Set(moves.values())
  return changes.filter((change) => !movedAway.has(change)).map((change) => ({ change, moved: moves.get(change) }))
}

/** Returns the public form of a change. */
const pathChange = ({ path, before, after }: Change, moved: Change | undefined, diff: string | undefined): PathChange => ({
  path,
  ...describeChange(before, after),
  ...(moved && { kind: 'moved', from: moved.path }),
  ...(diff !== undefined && { diff })
})

/** The texts of a file before and after a run: null if there was no file, absent if it was not a text or is not known any more. */
export interface FileTexts {
  path: string
  before?: string | null
  after?: string | null
}

/** Returns the texts of the files that a run changed, as far as they are known. */
export async function runTexts (entries: Entries, parts: Parts): Promise<FileTexts[]> {
  const texts: FileTexts[] = []
  for (const { path, before: place, left, source, isParent } of chainsOf(entries).values()) {
    if (isParent || place?.kind === 'folder') continue
    const before = await readText(place, source, parts)
    const after = await readText(left, { from: path }, parts)
    texts.push({ path, ...(before !== undefined && { before }), ...(after !== undefined && { after }) })
  }
  return texts.reverse()
}

function fateOf (path: string, { steps, done, reasons }: RestorePlan): Pick<FileChangeView, 'canUndo' | 'why'> {
  const step = steps.find((each) => each.path === path)
  if (step !== undefined) return { canUndo: true, ...(step.isShared && { why: 'shared' }) }
  return { canUndo: false, why: reasons.get(path) ?? (done.includes(path) ? 'undone' : 'changed_since') }
}

/** What is at a path, and where its content is kept. Without `source`, the content is at the path itself. */
type Content = Pick<Chain, 'path' | 'source'> & { before: Place | undefined }

/** Returns the unified diff of two contents of a path; undefined if one of them is not a text, or not known any more. */
async function diffOf (cwd: string, old: Content, now: Content, parts: Parts): Promise<string | undefined> {
  if (isSame(old.before, now.before)) return undefined
  const texts = []
  for (const { path, before, source = { from: path } } of [old, now]) texts.push(await readText(before, source, parts))
  const [before, after] = texts
  if (before === undefined || after === undefined || (before === null && after === null)) return undefined
  return unifiedDiff(relative(cwd, old.path), before, after ?? '')
}

/** The most changes that a plan shows, and the most of them that are shown with a diff. */
const MOST_SHOWN = 200
const MOST_DIFFS = 50

/** Returns what the steps would do to their paths, in the form of a run's changes. A move is one change. */
export async function plannedChanges (steps: readonly Chain[], parts: Parts): Promise<PathChange[]> {
  const named = steps.filter(({ isParent }) => !isParent).map((step) => ({ step, path: step.path, before: step.left, after: step.before }))
  const shown = joinMoves(named).slice(0, MOST_SHOWN)
  const compared = new Set(shown.slice(0, MOST_DIFFS))
  return inBatches(shown, async (each) => {
    const { change, moved } = each
    const isCompared = moved === undefined && compared.has(each)
    return pathChange(change, moved, isCompared ? await diffOf(change.step.cwd, change, change.step, parts) : undefined)
  })
}

/** Which paths of a run are still as the run left them. */
export interface AsLeft {
  /** Real paths that are still as the run left them. */
  paths: Set<string>
  /** True if not all changes of the run are known. */
  isUncovered: boolean
  /** True if some calls of the run are still running. */
  isOpen: boolean
}

/**
 * Returns those of the real paths `among` that are still as the run with these entries left them. A path that the run deleted counts as
 * such if nothing is there now.
 */
export async function pathsAsLeft (
  entries: Entries,
  among: readonly string[],
  { paths }: Pick<Parts, 'paths'>
): Promise<AsLeft> {
  const ended = entries.filter(({ ended }) => ended)
  const chains = chainsOf(ended)
  const known = among.filter((path) => chains.has(path))
  const isLeft = await inBatches(known, async (path) => {
    const { left } = chains.get(path)!
    return isSame(await lookAt(path, left, { paths }).catch(() => undefined), left)
  })
  const isOpen = ended.length < entries.length
  return { paths: new Set(known.filter((_, at) => isLeft[at])), isUncovered: isOpen || uncoveredCalls(entries).length > 0, isOpen }
}
