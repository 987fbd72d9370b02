import { lstat, readdir, rename } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { timeOfId } from '../lib/ids.ts'
import { UNDO_OPEN, undoEntryKey } from '../store/index.ts'
import { type PathPolicy, removeEntry } from '../tools/index.ts'
import { chainsOfCopy, inBatches, isOwnName, isSame, lookAt, withFolder, withParent } from '../workspace/index.ts'
import { endEntry } from './settle-entry.ts'
import { type Entry, type KeepParts, UNDO } from './undo-entry.ts'
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
    const entry = await store.get<Entry>(undoEntryKey(runId, key.slice(UNDO_OPEN.length))).catch(() => undefined)
    if (entry === undefined) {
      await store.transact([{ type: 'del', key }])
      continue
    }
    if (entry.tree === undefined) {
      await putBackAside(entry, parts.paths)
      await removeUnfinished(entry, parts)
    }
    await store.transact((await endEntry(entry, { isLate: true, isCut: entry.isCut }, parts)).ops)
    if (entry.of !== undefined) works.set(runId, entry)
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

/**
 * Puts back what an interrupted call had moved away from its first path, if nothing is at any of its paths now. An undo
 * and an apply move nothing away.
 */
async function putBackAside ({ id, roots, items, of }: Entry, paths: PathPolicy): Promise<void> {
  const before = of !== undefined ? undefined : items.find(({ path }) => path === roots[0])?.before
  const areGone = async () => (await inBatches(roots, (path) => lookAt(path, undefined, { paths }))).every((place) => place === null)
  if (!before || !await areGone().catch(() => false)) return
  await withParent(roots[0], async (folder, name) => {
    for (const aside of await readdir(folder.entry('.'))) {
      if (!isOwnName(aside, 'old', timeOfId(id)) || !isSame(await lookAt(join(folder.path, aside), before, { paths }), before)) continue
      return rename(folder.entry(aside), folder.entry(name))
    }
  }).catch(() => {})
}

/**
 * Removes what an interrupted call, undo or apply has left beside its paths: temporary files, and files that a call moved aside to replace
 * them, if a copy of their content is kept.
 */
async function removeUnfinished ({ id, roots, items, of }: Entry, { paths, clock }: KeepParts): Promise<void> {
  const { signal } = new AbortController()
  const kept = items.filter(({ path, before, notKept }) => roots.includes(path) && before?.kind === 'file' && notKept === undefined)
  for (const path of new Set(roots.map((root) => dirname(root)))) {
    await withFolder(path, async (folder) => {
      for (const name of await readdir(folder.entry('.'))) {
        const isOld = of === undefined && isOwnName(name, 'old', timeOfId(id))
        if (!isOld && !isOwnName(name, 'tmp', timeOfId(id))) continue
        const place = isOld ? await lookAt(join(path, name), undefined, { paths }) : undefined
        if (isOld && !kept.some(({ before }) => isSame(before, place))) continue
        const isDirectory = (await lstat(folder.entry(name))).isDirectory()
        await removeEntry(folder, name, { isDirectory, recursive: true, signal, clock })
      }
    }).catch(() => {})
  }
}
