import { link, lstat, readdir, rename, rmdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { Type, type Static } from '@sinclair/typebox'
import type { BuiltinTool, ToolOutput } from '../../contracts/tool.ts'
import type { Clock } from '../../lib/clock.ts'
import { onceFree } from '../../lib/file-system.ts'
import { assertExpected, withPathErrors, ToolFailed } from '../tool-errors.ts'
import type { PathPolicy } from '../path-policy.ts'
import { fileDigest } from './change-digest.ts'
import { assertShown, stateOf } from './place-state.ts'
import { changedNow } from './replace-file.ts'
import { asideName, isMounted, PathRefused, withFile, withParent, withSubfolder, type Folder } from '../../workspace/index.ts'

const Input = Type.Object({
  path: Type.String({ minLength: 1 }),
  recursive: Type.Optional(
    Type.Boolean({ description: 'With all that is in the folder' })
  )
}, { additionalProperties: false })

/**
 * Output: `{path, kind, deleted}`. `deleted` is the number of removed entries, including those inside a folder. A symbolic link is removed,
 * never its target.
 */
export function createDeleteFile ({ paths, clock }: { paths: PathPolicy, clock: Clock }): BuiltinTool<Static<typeof Input>> {
  return {
    model: {
      name: 'deleteFile',
      description: 'Delete a file, a symbolic link (never what it leads to) or an empty folder.',
      schema: Input
    },
    says: {
      en: { label: 'Delete a file', does: 'delete', result: deletionInWords },
      about: ['path'],
      otherNames: ['rm', 'delete', 'removefile', 'unlink']
    },
    policy: { effect: 'write' },
    effects: {
      proves: 'deletion',
      files: ({ path, recursive = false }, { cwd, givenCwd }) =>
        withPathErrors(path, async () => {
          const real = await paths.locate(path, cwd)
          await paths.assertRemovable(real, cwd, givenCwd)
          const changed = [{ path: real, withContents: recursive, isRemoved: true as const }]
          return { changed, preview: async () => ({ leaves: new Map([[real, null]]) }) }
        })
    },
    execute: ({ path, recursive = false }, context) =>
      withPathErrors(path, async () => {
        const { cwd, givenCwd, signal, changed, shown } = context
        const real = await paths.locate(path, cwd)
        assertExpected(real, context)
        await paths.assertRemovable(real, cwd, givenCwd)
        return withParent(real, async (folder, name) => {
          await assertShown(folder, name, { paths, shown, withContents: recursive, signal })
          const stat = await lstat(folder.entry(name))
          const kind = stat.isDirectory() ? 'directory' : stat.isSymbolicLink() ? 'symlink' : 'file'
          // A file that can be removed but not read has the digest "unread".
          const before = kind === 'file'
            ? await withFile(folder, name, paths, (file, size) => fileDigest(file, size, signal)).catch(() => 'unread')
            : kind
          const deleted = await removeShown(folder, name, { isDirectory: kind === 'directory', recursive, signal })
          changed?.({ path: real, before, after: null })
          return { path: real, kind, deleted }
        })
      })
  }

  /**
   * Removes an entry. The entry is first renamed, so that no other program adds to it. It gets its name back if its state changed meanwhile
   * or it cannot be removed whole. An empty folder is removed directly. Returns the number of removed entries.
   */
  async function removeShown (
    folder: Folder,
    name: string,
    { isDirectory, recursive, signal }: { isDirectory: boolean, recursive: boolean, signal: AbortSignal }
  ): Promise<number> {
    if (isDirectory && !recursive) return removeEntry(folder, name, { isDirectory, recursive, signal, clock })
    const options = { withContents: recursive, signal }
    const seen = await stateOf(folder, name, paths, options)
    const aside = asideName()
    signal.throwIfAborted()
    try {
      await onceFree(clock, signal, () => rename(folder.entry(name), folder.entry(aside)))
    } catch (error) {
      // Something is mounted there. `removeEntry` reports this.
      if ((error as NodeJS.ErrnoException).code !== 'EBUSY' || !isDirectory) throw error
      return removeEntry(folder, name, { isDirectory, recursive, signal, clock })
    }
    try {
      if (await stateOf(folder, aside, paths, options) !== seen) throw changedNow(name)
      return await removeEntry(folder, aside, { isDirectory, recursive, signal, clock })
    } catch (error) {
      await putBack(folder, aside, name, { isDirectory, clock })
      throw error
    }
  }
}

/** Gives an entry its name back. If the name was taken meanwhile, throws ToolFailed, which says where the entry is. */
async function putBack (
  folder: Folder,
  aside: string,
  name: string,
  { isDirectory, clock }: { isDirectory: boolean, clock: Clock }
): Promise<void> {
  const tried = (work: () => Promise<void>) => onceFree(clock, undefined, work)
  try {
    if (isDirectory) return await tried(() => rename(folder.entry(aside), folder.entry(name)))
    await link(folder.entry(aside), folder.entry(name))
    await tried(() => unlink(folder.entry(aside)))
  } catch {
    throw new ToolFailed(`${JSON.stringify(name)} could not be removed, and is now ${JSON.stringify(join(folder.path, aside))}.`)
  }
}

/**
 * Removes an entry and returns the number of removed entries. Each folder on the way down is held open, so that a symbolic link that
 * replaces a folder meanwhile is not followed.
 */
export async function removeEntry (
  folder: Folder,
  name: string | Buffer,
  { isDirectory, recursive, signal, clock }: { isDirectory: boolean, recursive: boolean, signal: AbortSignal, clock: Clock }
): Promise<number> {
  signal.throwIfAborted()
  if (!isDirectory) {
    await onceFree(clock, signal, () => unlink(folder.entry(name)))
    return 1
  }
  let deleted = 1
  if (recursive) {
    await withSubfolder(folder, name, async (inner) => {
      if (await isMounted(folder, inner)) {
        throw new PathRefused(`Something is mounted at ${JSON.stringify(inner.path)}: what it holds is not deleted. Unmount it first.`)
      }
      for (const entry of await readdir(inner.entry('.'), { withFileTypes: true, encoding: 'buffer' })) {
        deleted += await removeEntry(inner, entry.name, { isDirectory: entry.isDirectory(), recursive, signal, clock })
      }
    })
  }
  await onceFree(clock, signal, () => rmdir(folder.entry(name)))
  return deleted
}

const deletionInWords = ({ deleted }: ToolOutput, { path }: { path?: unknown }): string =>
  `Deleted \`${path}\`${Number(deleted) > 1 ? ` and what was in it (${deleted} in all)` : ''}.`
