import { lstat, readdir, rename } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import type { Clock } from '../lib/clock.ts'
import { timeOfId } from '../lib/ids.ts'
import { UNDO_OPEN, undoEntryKey, undoFilesPrefix, type Op } from '../store/index.ts'
import { type PathPolicy, removeEntry } from '../tools/index.ts'
import { chainsOfCopy, inBatches, isOwnName, isSame, lookAt, withFolder, withParent } from '../workspace/index.ts'
import type { KeepParts } from './keep-call.ts'
import { settleEntry } from './settle-entry.ts'
import { type Entry, UNDO } from './undo-entry.ts'
import { takeOver, undoRun } from './undo-run.ts'
import { readEntries } from './works.ts'

/** Returns the path of the copy of a folder in which an owner works; undefined if there is none. */
export type FindCopy = (owner: string, folder: string) => Promise<string | undefined>

/**
 * Completes the entries of calls that the end of the service interrupted: the present state of their paths counts as what the calls left.
 * Then finishes the interrupted undos and applies.
 */
export async function completeInterrupted (copyOf: FindCopy, parts: KeepParts): Promise<void> {
  const { store, log } = parts
  const works = new Map<string, Entry>()
  for await (const [key, { runId }] of store.list<{ runId: string }>(UNDO_OPEN, { damaged () {} })) {
    const id = key.slice(UNDO_OPEN.length)
    const ops: Op[] = [{ type: 'del', key }]
    const entry = await store.get<Entry>(undoEntryKey(runId, id)).catch(() => undefined)
    if (entry !== undefined) {
      const settled = await completeEntry(id, entry, parts)
      if (entry.of !== undefined) works.set(runId, entry)
      if (settled !== undefined) ops.push({ type: 'put', key: undoEntryKey(runId, id), value: settled })
      else {
        ops.push({ type: 'del', key: undoEntryKey(runId, id) })
        for await (const file of store.keys(undoFilesPrefix(id))) ops.push({ type: 'del', key: file })
      }
    }
    await store.transact(ops)
  }
  for (const entry of works.values()) {
    await finishWork(entry, copyOf, parts).catch((error) =>
      log.warn({ err: error }, 'an undo or an apply that was cut off could not be finished'))
  }
}

/** Continues an undo or an apply that the end of the service interrupted, at the paths that it was to change. */
async function finishWork ({ of = '', toolName, owner, cwd, items }: Entry, copyOf: FindCopy, parts: KeepParts): Promise<void> {
  const named = items.filter(({ isParent }) => !isParent)
  if (toolName === UNDO) {
    return void await undoRun(of, await readEntries(parts.store, of), {}, parts, new Set(named.map(({ path }) => path)))
  }
  const copy = await copyOf(owner, cwd)
  if (copy === undefined) return
  const left = named.map(({ path, before }) => ({ path: relative(cwd, path), isOtherAsItWas: true, expected: before }))
  const chains = await chainsOfCopy(left, { from: copy, to: cwd, paths: parts.paths })
  // If the copy is deleted meanwhile, its files seem to be removed from it. Then nothing is applied.
  if (await copyOf(owner, cwd) === copy) await takeOver(chains, {}, { of, owner, cwd }, parts)
}

async function completeEntry (id: string, entry: Entry, parts: KeepParts): Promise<Entry | undefined> {
  const { isCut } = entry
  if (entry.tree === undefined) {
    if (entry.of === undefined) await putBackAside(entry, timeOfId(id), parts.paths)
    await removeUnfinished(entry, timeOfId(id), parts)
    const settled = await settleEntry(entry, {}, parts)
    return settled && { ...settled, isCut }
  }
  try {
    return await settleEntry(entry, { isLate: true }, parts)
  } catch (error) {
    parts.log.warn({ err: error }, 'what a command changed could not be compared')
    const { tree: _, ...rest } = entry
    const reason = 'What it changed could not be found out after the service had ended.'
    return { ...rest, ended: true, uncovered: { ...entry.uncovered, reason } }
  }
}

/**
 * Puts back what an interrupted call had moved away from its first path, if nothing is at any of its paths now. `began`: when the call
 * began, in milliseconds since the Unix epoch.
 */
async function putBackAside ({ roots, items }: Entry, began: number, paths: PathPolicy): Promise<void> {
  const before = items.find(({ path }) => path === roots[0])?.before
  const areGone = async () => (await inBatches(roots, (path) => lookAt(path, undefined, { paths }))).every((place) => place === null)
  if (!before || !await areGone().catch(() => false)) return
  await withParent(roots[0], async (folder, name) => {
    for (const aside of await readdir(folder.entry('.'))) {
      if (!isOwnName(aside, 'old', began) || !isSame(await lookAt(join(folder.path, aside), before, { paths }), before)) continue
      return rename(folder.entry(aside), folder.entry(name))
    }
  }).catch(() => {})
}

/**
 * Removes what an interrupted call, undo or apply has left beside its paths: temporary files, and files that a call moved aside to replace
 * them, if a copy of their content is kept. `began`: milliseconds since the Unix epoch.
 */
async function removeUnfinished (
  { roots, items, of }: Entry,
  began: number,
  { paths, clock }: { paths: PathPolicy, clock: Clock }
): Promise<void> {
  const { signal } = new AbortController()
  const kept = items.filter(({ path, before, notKept }) => roots.includes(path) && before?.kind === 'file' && notKept === undefined)
  for (const path of new Set(roots.map((root) => dirname(root)))) {
    await withFolder(path, async (folder) => {
      for (const name of await readdir(folder.entry('.'))) {
        const isOld = of === undefined && isOwnName(name, 'old', began)
        if (!isOld && !isOwnName(name, 'tmp', began)) continue
        const place = isOld ? await lookAt(join(path, name), undefined, { paths }) : undefined
        if (isOld && !kept.some(({ before }) => isSame(before, place))) continue
        const isDirectory = (await lstat(folder.entry(name))).isDirectory()
        await removeEntry(folder, name, { isDirectory, recursive: true, signal, clock })
      }
    }).catch(() => {})
  }
}
