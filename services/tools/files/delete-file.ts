import { lstat, readdir, rmdir, unlink } from 'node:fs/promises'
import { Type, type Static } from '@sinclair/typebox'
import type { Tool } from '../../contracts/tool.ts'
import { assertExpected, withPathErrors, PathRefused } from '../tool-errors.ts'
import type { PathPolicy } from '../path-policy.ts'
import { fileDigest } from './change-digest.ts'
import { isMounted, withFile, withParent, withSubfolder, type Folder } from './open-folder.ts'

const Input = Type.Object({
  path: Type.String({ minLength: 1, description: 'File or folder to delete: absolute, or relative to the working directory.' }),
  recursive: Type.Optional(
    Type.Boolean({ description: 'Delete a folder with everything in it. Without it only files and empty folders are deleted.' })
  )
}, { additionalProperties: false })

/** `{path, kind, deleted}`: `deleted` counts all removed entries, also those inside a folder. A symlink is removed, never its target. */
export function createDeleteFile ({ paths }: { paths: PathPolicy }): Tool<Static<typeof Input>> {
  return {
    name: 'deleteFile',
    description: 'Delete a file, a symbolic link (never what it leads to) or an empty folder.',
    inputSchema: Input,
    effect: 'write',
    proves: 'deletion',
    widestScope: 'folder',
    reportsChanges: true,
    target: ({ path }) => path,
    willChange: ({ path, recursive = false }, { cwd, givenCwd }) =>
      withPathErrors(path, async () => {
        const real = await paths.locate(path, cwd)
        await paths.assertRemovable(real, cwd, givenCwd)
        return [{ path: real, withContents: recursive }]
      }),
    execute: ({ path, recursive = false }, context) =>
      withPathErrors(path, async () => {
        const { cwd, givenCwd, signal, changed } = context
        const real = await paths.locate(path, cwd)
        assertExpected(real, context)
        await paths.assertRemovable(real, cwd, givenCwd)
        return withParent(real, async (folder, name) => {
          const stat = await lstat(folder.entry(name))
          const kind = stat.isDirectory() ? 'directory' : stat.isSymbolicLink() ? 'symlink' : 'file'
          // A file that may be removed but not read has no digest.
          const before = kind === 'file'
            ? await withFile(folder, name, paths, (file, size) => fileDigest(file, size, signal)).catch(() => 'unread')
            : kind
          const deleted = await removeEntry(folder, name, kind === 'directory', recursive, signal)
          changed?.({ path: real, before, after: null })
          return { path: real, kind, deleted }
        })
      })
  }
}

/**
 * Removes an entry and returns how many entries were removed. Each folder on the way down is held open, so that a folder that is
 * replaced by a symlink meanwhile is not entered.
 */
export async function removeEntry (
  folder: Folder,
  name: string | Buffer,
  isDirectory: boolean,
  recursive: boolean,
  signal: AbortSignal
): Promise<number> {
  signal.throwIfAborted()
  if (!isDirectory) {
    await unlink(folder.entry(name))
    return 1
  }
  let deleted = 1
  if (recursive) {
    await withSubfolder(folder, name, async (inner) => {
      if (await isMounted(folder, inner)) {
        throw new PathRefused(`Something is mounted at ${JSON.stringify(inner.path)}: what it holds is not deleted. Unmount it first.`)
      }
      for (const entry of await readdir(inner.entry('.'), { withFileTypes: true, encoding: 'buffer' })) {
        deleted += await removeEntry(inner, entry.name, entry.isDirectory(), recursive, signal)
      }
    })
  }
  await rmdir(folder.entry(name))
  return deleted
}
