import { sep } from 'node:path'
import type { ChangedPath, FileChange } from '../contracts/tool.ts'
import { readWhole } from './entry-file.ts'
import { inBatches } from './in-batches.ts'
import { isSame, type Item, type Place } from './undo-entry.ts'
import { lookAt, surveyAll } from './survey.ts'
import type { PathPolicy } from '../tools/index.ts'

const UNREAD: Place = { kind: 'file', digest: 'stat:', size: 0, mode: 0 }
const isDigest = (text: string | null | undefined): text is string => text?.startsWith('sha256:') === true
const fileOf = (digest: string): Place => ({ kind: 'file', digest, size: 0, mode: 0o666 })

/**
 * Returns the items that a call changed, with what it left at each. What the tool reported counts where it says more: a file that
 * somebody replaced between the copy and the change was not kept.
 */
export async function settleItems (
  { items, places, reported = [], paths }: {
    items: readonly Item[]
    places: readonly ChangedPath[]
    reported?: readonly FileChange[]
    paths: Pick<PathPolicy, 'owns'>
  }
): Promise<Item[]> {
  const reports = new Map(reported.map((change) => [change.path, change]))
  const look = (path: string, like: Place | undefined) => lookAt(path, like, { paths }).catch((): undefined => undefined)

  async function leftAt ({ path, before }: Item): Promise<Place | undefined> {
    const digest = reports.get(path)?.after
    if (!isDigest(digest)) return look(path, before)
    const found = await look(path, UNREAD)
    return found?.kind === 'file' ? { ...found, digest } : found
  }

  const removed: string[] = []
  const isBelow = ({ path }: Item) => removed.some((root) => path.startsWith(root))
  // Nothing is below a folder that is gone, so that of a deleted tree only the root is looked at.
  for (const item of items) {
    if (item.before?.kind === 'folder' && !isBelow(item) && await look(item.path, item.before) === null) removed.push(item.path + sep)
  }
  const settled = (await inBatches(items, async (item) => {
    const after = isBelow(item) ? null : await leftAt(item)
    const change = reports.get(item.path)
    const found = change === undefined ? item : corrected(item, change)
    return isSame(found.before, after) ? [] : [{ ...found, after }]
  })).flat()
  for (const { path, before, after } of reported) {
    if (items.some((item) => item.path === path) || before === after) continue
    const place = after === null ? null : await look(path, undefined)
    settled.push({
      path,
      before: before === null ? null : fileOf(before),
      after: place,
      ...(before !== null && { notKept: 'gone' as const })
    })
  }
  for (const { path, withContents } of places) {
    const root = settled.find((item) => item.path === path)
    if (!withContents || root?.after?.kind !== 'folder' || root.before?.kind === 'folder') continue
    const moved = await surveyAll([{ path, withContents }], { paths, read: (file) => readWhole(file, { limit: Infinity }) }).catch(() => [])
    for (const { path: inner, before: after } of moved.slice(1)) settled.push({ path: inner, before: null, after })
  }
  return settled
}

/** Corrects what was there by what the tool found when it made the change. */
function corrected (item: Item, { before }: FileChange): Item {
  if (before === null) return item.before === null ? item : { path: item.path, before: null }
  if (!isDigest(before) || (item.before?.kind === 'file' && (item.before.digest === before || !isDigest(item.before.digest)))) return item
  return { path: item.path, before: fileOf(before), notKept: 'gone' }
}
