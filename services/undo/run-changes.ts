import { dirname, relative, sep } from 'node:path'
import type { FileChangeView, PathChange, RunChanges, UncoveredCall } from '../../schemas/undo.ts'
import type { KeepParts } from './keep-call.ts'
import { contentDigest, unifiedDiff } from '../tools/index.ts'
import {
  type Chain,
  type Copy,
  describeChange,
  inBatches,
  isAddedObject,
  isSame,
  type Item,
  lookAt,
  type Place,
  planRestore,
  readCopy,
  type RestorePlan,
  withFile,
  withParent
} from '../workspace/index.ts'
import { chainsOf, sourceOf } from './chains.ts'
import type { Entry } from './undo-entry.ts'

type Parts = Pick<KeepParts, 'paths' | 'folder'>
type Entries = Array<[id: string, entry: Entry]>

/** Longer files are not compared; bytes. */
const COMPARED_BYTES = 256 * 1024

/** Returns the calls of a run whose effects nobody here knows. */
export function uncoveredCalls (entries: Entries): UncoveredCall[] {
  const calls = entries.flatMap(([, { toolCallId, toolName, at, uncovered }]) =>
    uncovered === undefined ? [] : [{ toolCallId, toolName, at, ...uncovered }]
  )
  // A crash may have repeated the hand-over of a call to the application.
  return [...new Map(calls.map((call) => [call.toolCallId, call])).values()]
}

/** Returns a page of the changes of a run, oldest first, one for each path that a call named. `cursor` is the number of the first. */
export async function runChanges (
  entries: Entries,
  { limit, cursor = '0' }: { limit: number, cursor?: string },
  parts: Parts
): Promise<Omit<RunChanges, 'followUps'>> {
  const all = entries.filter(([, { ended }]) => ended).flatMap(([id, entry]) =>
    changesOf(entry).map((change) => ({ id, entry, ...change }))
  )
  const from = Number(cursor)
  const page = all.slice(from, from + limit)
  const named = page.map(({ item }) => item.path)
  const isNamed = ({ path }: { path: string }) => named.some((root) => path === root || path.startsWith(root + sep))
  const plan = await planRestore([...chainsOf(entries).values()].filter(isNamed), parts)
  const changes: FileChangeView[] = []
  for (const { id, entry, item, moved, inner } of page) {
    const { toolCallId, toolName, at, cwd, diff: made } = entry
    const diff = made ?? (moved === undefined ? await contentDiff(item, cwd, { ...parts, ...sourceOf(item, id, entry) }) : undefined)
    changes.push({
      path: item.path,
      ...describeChange(item.before, item.after),
      ...(moved && { kind: 'moved', from: moved.path }),
      toolCallId,
      toolName,
      at,
      ...(inner > 0 && { inner }),
      ...(diff !== undefined && { diff }),
      ...fateOf(item.path, plan)
    })
  }
  return { changes, notCovered: uncoveredCalls(entries), ...(from + limit < all.length && { nextCursor: String(from + limit) }) }
}

/** The changes of one entry: the outermost paths, without the folders that were made on the way to them. */
function changesOf ({ items: all, roots, units }: Entry): Array<{ item: Item, moved?: Item, inner: number }> {
  const named = new Set(roots)
  // Objects that were added to a repository are never taken away: they are no change to decide about.
  const items = all.filter((item) => !isAddedObject(item, units))
  // A folder that was made, or went, stands for what is in it; one whose permissions alone changed does not.
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
  const sources = Map.groupBy(
    outer.filter(({ before, after }) => before !== null && after === null),
    ({ before }) => before?.kind === 'file' ? before.digest : before?.kind
  )
  const source = ({ after, path }: Item) => {
    // Of folders that a command made and removed nobody knows whether one became the other.
    if (after === null || after === undefined || (after.kind === 'folder' && named.size === 0)) return undefined
    const likely = sources.get(after.kind === 'file' ? after.digest : after.kind)
    return likely?.find((other) => other.path !== path && isSame(other.before, after))
  }
  const movedAway = new Set(outer.flatMap((item) => source(item) ?? []))
  return outer.filter((item) => !movedAway.has(item)).map((item) => ({ item, moved: source(item), inner: inner.get(item.path) ?? 0 }))
}

/** What a run changed: the texts of a file before and after it, null for none; absent where there was another thing, or it is not known. */
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
    const before = await keptText(place, source?.copy, { ...parts, id: source?.id ?? '', key: source?.key })
    const after = await presentText(path, left, { ...parts, id: '', key: undefined })
    texts.push({ path, ...(before !== undefined && { before }), ...(after !== undefined && { after }) })
  }
  return texts.reverse()
}

function fateOf (path: string, { steps, done, reasons }: RestorePlan): Pick<FileChangeView, 'canUndo' | 'why'> {
  const step = steps.find((each) => each.path === path)
  if (step !== undefined) return { canUndo: true, ...(step.isShared && { why: 'shared' }) }
  return { canUndo: false, why: reasons.get(path) ?? (done.includes(path) ? 'undone' : 'changed_since') }
}

/** The diff of a change whose tool made none: a deletion, or an undo whose file is still as it left it. */
async function contentDiff ({ path, before, after, copy }: Item, cwd: string, source: Copied): Promise<string | undefined> {
  const [old, now] = [await keptText(before, copy, source), await presentText(path, after, source)]
  return old === undefined || now === undefined ? undefined : unifiedDiff(relative(cwd, path), old, now ?? '')
}

type Copied = Omit<Parameters<typeof readCopy>[0], 'key'> & { key?: string } & Pick<KeepParts, 'paths'>

const asText = (bytes: Buffer): string | undefined => bytes.includes(0) ? undefined : bytes.toString('utf8')

/** Returns the text of a copy; null where nothing was, undefined where it is no text or not known. */
async function keptText (place: Place, copy: Copy | undefined, source: Copied): Promise<string | null | undefined> {
  if (place === null) return null
  if (place.kind !== 'file' || place.size > COMPARED_BYTES) return undefined
  const chunks: Buffer[] = []
  try {
    for await (const chunk of readCopy(source, copy, place.size)) chunks.push(chunk)
  } catch {
    return undefined
  }
  return asText(Buffer.concat(chunks))
}

/** Returns the text of a file that is still as the change left it; null for a deletion. */
async function presentText (path: string, place: Place | undefined, { paths }: Copied): Promise<string | null | undefined> {
  if (place === null) return null
  if (place?.kind !== 'file' || place.size > COMPARED_BYTES) return undefined
  const bytes = await withParent(path, (folder, name) => withFile(folder, name, paths, (file) => file.readFile())).catch(() => undefined)
  return bytes === undefined || contentDigest(bytes) !== place.digest ? undefined : asText(bytes)
}

/** Changes that a plan shows, and differences among them. */
const MOST_SHOWN = 200
const MOST_DIFFS = 50

/** Returns what steps would do to their paths, as the changes of a run are shown. A move is one change. */
export async function plannedChanges (steps: readonly Chain[], parts: Parts): Promise<PathChange[]> {
  const named = steps.filter(({ isParent }) => !isParent)
  const going = named.filter(({ before, left }) => before === null && left?.kind === 'file' && left.size > 0)
  const sources = new Map<Chain, Chain>()
  for (const step of named) {
    if (step.left !== null || step.before?.kind !== 'file') continue
    const source = going.find((each) => isSame(each.left, step.before))
    if (source === undefined) continue
    sources.set(step, source)
    going.splice(going.indexOf(source), 1)
  }
  const moved = new Set(sources.values())
  const shown = named.filter((step) => !moved.has(step)).slice(0, MOST_SHOWN)
  const compared = new Set(shown.slice(0, MOST_DIFFS))
  return inBatches(shown, async (step): Promise<PathChange> => {
    const { path, left, before } = step
    const from = sources.get(step)?.path
    const diff = from === undefined && compared.has(step) ? await diffOf(step, parts) : undefined
    return { path, ...describeChange(left, before), ...from !== undefined && { kind: 'moved', from }, ...diff !== undefined && { diff } }
  })
}

async function diffOf (
  { path, cwd, left, before, source }: Chain,
  parts: Parts
): Promise<string | undefined> {
  if (isSame(left, before)) return undefined
  const old = await presentText(path, left, { ...parts, id: '' })
  const next = source?.from === undefined
    ? await keptText(before, source?.copy, { ...parts, id: source?.id ?? '', key: source?.key })
    : await presentText(source.from, before, { ...parts, id: '' })
  if (old === undefined || next === undefined || (old === null && next === null)) return undefined
  return unifiedDiff(relative(cwd, path), old, next ?? '')
}

/** What a run has left. */
export interface AsLeft {
  /** Real paths that are as the run left them. */
  paths: Set<string>
  /** The run made calls of which not all changes are known. */
  isUncovered: boolean
  /** Some of it is under way. */
  isOpen: boolean
}

/** Returns which of these real paths hold what a run, with these entries, has left there, or nothing where it deleted what was there. */
export async function pathsAsLeft (
  entries: Entries,
  among: readonly string[],
  { paths }: Pick<Parts, 'paths'>
): Promise<AsLeft> {
  const ended = entries.filter(([, entry]) => entry.ended)
  const chains = chainsOf(ended)
  const known = among.filter((path) => chains.has(path))
  const isLeft = await inBatches(known, async (path) => {
    const { left } = chains.get(path)!
    return isSame(await lookAt(path, left, { paths }).catch(() => undefined), left)
  })
  const isOpen = ended.length < entries.length
  return { paths: new Set(known.filter((_, at) => isLeft[at])), isUncovered: isOpen || uncoveredCalls(entries).length > 0, isOpen }
}
