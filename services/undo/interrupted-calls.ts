import { lstat, readdir, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Clock } from '../lib/clock.ts'
import { isOwnName, type PathPolicy, removeEntry } from '../tools/index.ts'
import { inBatches, isSame, lookAt, withFolder, withParent } from '../workspace/index.ts'
import type { Entry } from './undo-entry.ts'

/**
 * Puts back what a call that was cut off had moved aside of its first path, if nothing is at any of its paths. `began`: milliseconds since
 * the Unix epoch.
 */
export async function putBackAside ({ roots, items }: Pick<Entry, 'roots' | 'items'>, began: number, paths: PathPolicy): Promise<void> {
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
 * Removes what a call that was cut off was writing beside its paths, and the second name of a file that it replaced, of which a copy is
 * kept. `began`: milliseconds since the Unix epoch.
 */
export async function removeUnfinished (
  { roots, items }: Pick<Entry, 'roots' | 'items'>,
  began: number,
  { paths, clock }: { paths: PathPolicy, clock: Clock }
): Promise<void> {
  const { signal } = new AbortController()
  const kept = items.filter(({ path, before, notKept }) => roots.includes(path) && before?.kind === 'file' && notKept === undefined)
  for (const path of new Set(roots.map((root) => dirname(root)))) {
    await withFolder(path, async (folder) => {
      for (const name of await readdir(folder.entry('.'))) {
        const isOld = isOwnName(name, 'old', began)
        if (!isOld && !isOwnName(name, 'tmp', began)) continue
        const place = isOld ? await lookAt(join(path, name), undefined, { paths }) : undefined
        if (isOld && !kept.some(({ before }) => isSame(before, place))) continue
        const isDirectory = (await lstat(folder.entry(name))).isDirectory()
        await removeEntry(folder, name, { isDirectory, recursive: true, signal, clock })
      }
    }).catch(() => {})
  }
}
