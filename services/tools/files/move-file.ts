import { constants, type Stats } from 'node:fs'
import { access, lstat, mkdir, open, rename, rmdir, unlink, readdir, readlink, symlink, type FileHandle } from 'node:fs/promises'
import { basename, dirname, join, sep } from 'node:path'
import { Type, type Static } from '@sinclair/typebox'
import type { BuiltinTool } from '../../contracts/tool.ts'
import { assertExpected, withPathErrors, ToolFailed } from '../tool-errors.ts'
import type { PathPolicy } from '../path-policy.ts'
import type { Clock } from '../../lib/clock.ts'
import { onceFree } from '../../lib/file-system.ts'
import { foldCase } from '../../lib/windows-path.ts'
import { fileDigest } from './change-digest.ts'
import { removeEntry } from './delete-file.ts'
import {
  asideName,
  type Folder,
  isMounted,
  PathRefused,
  temporaryName,
  withFile,
  withParent,
  withSubfolder
} from '../../workspace/index.ts'
import { assertShown } from './place-state.ts'
import { readWhole } from './read-text.ts'
import { keepIfChanged, linkAside, tellKept, withCreatedFolder } from './replace-file.ts'

const Input = Type.Object({
  from: Type.String({ minLength: 1 }),
  to: Type.String({ minLength: 1, description: 'Missing folders are made' }),
  overwrite: Type.Optional(
    Type.Boolean({ description: 'Replace a file there' })
  )
}, { additionalProperties: false })

/** An entry in an open folder. */
interface Place {
  folder: Folder
  name: string
}

/**
 * Output: `{from, path, kind, overwritten?, keptAside?, note?}`. A symbolic link is moved itself. A file is replaced only if `overwrite` is
 * true.
 */
export function createMoveFile ({ paths, clock }: { paths: PathPolicy, clock: Clock }): BuiltinTool<Static<typeof Input>> {
  return {
    model: {
      name: 'moveFile',
      description: 'Move or rename a file or folder. What refers to the old path is not changed: search for it.',
      schema: Input
    },
    says: {
      en: { label: 'Move a file', does: 'move' },
      about: ['from', 'to'],
      otherNames: ['mv', 'move', 'rename', 'renamefile']
    },
    policy: { effect: 'write' },
    effects: {
      proves: 'file',
      files: async (input, context) => {
        const { source, target, isRespelled } = await locate(input, context)
        return {
          changed: [{ path: source, withContents: true, isRemoved: true }, { path: target, withContents: true }],
          async preview ({ ahead, signal }) {
            // Both spellings name the same file until the call runs, so its state cannot be foreseen by path.
            if (isRespelled) return { leaves: new Map() }
            // A file that is too large to read has no preview.
            const present = () =>
              withParent(source, (folder, name) => withFile(folder, name, paths, (file, size) => readWhole(file, size, signal)))
            const moved = ahead.has(source) ? ahead.get(source)! : await present().catch(() => undefined)
            return { leaves: new Map([[source, null], ...moved ? [[target, moved] as const] : []]) }
          }
        }
      }
    },
    execute: async (input, context) => {
      const { source, target, isRespelled } = await locate(input, context)
      for (const path of [source, target]) assertExpected(path, context)
      const { signal, changed, shown } = context
      const bound = { paths, shown, withContents: true, signal }
      return withPathErrors(input.from, () =>
        withParent(source, async (folder, name) => {
          const from = { folder, name }
          await assertShown(folder, name, bound)
          const stat = await lstat(folder.entry(name))
          const digest = await digestOf(from, stat)
          return withPathErrors(input.to, () =>
            withCreatedFolder(dirname(target), async (parent) => {
              const to = { folder: parent, name: basename(target) }
              const there = await lstat(parent.entry(to.name)).catch(() => undefined)
              const isItself = isRespelled && there?.ino === stat.ino && there.dev === stat.dev
              const old = isItself ? undefined : there
              const before = old && await digestOf(to, old)
              if (old) await assertReplaceable(to, old, stat, input)
              await assertShown(parent, to.name, bound)
              signal.throwIfAborted()
              const reportCopy = () => changed?.({ path: target, before: before ?? null, after: digest })
              if (isItself) await respell(from, to.name, signal)
              const isFolder = stat.isDirectory()
              const aside = isItself ? undefined : await place(from, to, { isFolder, replaced: old, reportCopy, signal })
              const kept = aside === undefined ? undefined : await keepIfChanged(parent, aside, to.name, { digest: before!, paths, clock })
              reportCopy()
              changed?.({ path: source, before: digest, after: null })
              const more = tellKept(target, kept)
              return { from: source, path: target, kind: kindOf(stat), ...old && { overwritten: true }, ...more }
            }))
        }))

      function digestOf ({ folder, name }: Place, stat: Stats): Promise<string> | string {
        if (!stat.isFile()) return kindOf(stat)
        return withFile(folder, name, paths, (file, size) => fileDigest(file, size, signal)).catch(() => 'unread')
      }
    }
  }

  async function locate ({ from, to }: Static<typeof Input>, { cwd, givenCwd }: { cwd: string, givenCwd: string }) {
    const source = await withPathErrors(from, () => paths.locate(from, cwd))
    await paths.assertRemovable(source, cwd, givenCwd)
    const target = await withPathErrors(to, () => paths.locate(to, cwd))
    if (target === source) {
      const respelled = join(dirname(source), basename(paths.meant(to, cwd)))
      if (respelled === source) throw new ToolFailed(`${JSON.stringify(to)} is where it is already.`)
      if (foldCase(respelled) === foldCase(source)) return { source, target: respelled, isRespelled: true }
      throw new ToolFailed(`${JSON.stringify(to)} is another name of ${JSON.stringify(source)}: choose a name that is not its short form.`)
    }
    if (target.startsWith(source + sep)) throw new ToolFailed(`${JSON.stringify(from)} cannot be moved into itself.`)
    return { source, target, isRespelled: false }
  }

  /**
   * Renames an entry to another spelling of the same name. Some file systems, and Wine, accept this but keep the old spelling. The entry is
   * then renamed to a third name first.
   */
  async function respell ({ folder, name }: Place, spelling: string, signal: AbortSignal): Promise<void> {
    const move = (from: string, to: string) => onceFree(clock, signal, () => rename(folder.entry(from), folder.entry(to)))
    await move(name, spelling)
    if (!(await readdir(folder.entry('.'))).includes(spelling)) {
      const aside = asideName()
      await move(name, aside)
      await move(aside, spelling).catch(async (error) => {
        await onceFree(clock, undefined, () => rename(folder.entry(aside), folder.entry(name)))
        throw error
      })
    }
    await folder.handle.sync().catch(() => {})
  }

  /**
   * Moves an entry. A free target name is first reserved by an empty entry, because rename(2) would replace an entry that another program
   * gave the name meanwhile. Returns the second name given to a replaced file; undefined if no file was replaced or it could not get one.
   */
  async function place (
    from: Place,
    to: Place,
    { isFolder, replaced, reportCopy, signal }: {
      isFolder: boolean,
      replaced: Stats | undefined,
      /** Called if the copy was made but the old entry could not be removed whole. */
      reportCopy: () => void,
      signal: AbortSignal
    }
  ): Promise<string | undefined> {
    const [source, target] = [from.folder.entry(from.name), to.folder.entry(to.name)]
    if (!replaced) await reserve(to, isFolder)
    const aside = replaced?.isFile() ? linkAside(to.folder, to.name) : undefined
    try {
      // Windows cannot rename a folder to a name that exists.
      if (isFolder && process.platform === 'win32') await rmdir(target)
      await onceFree(clock, signal, () => rename(source, target)).catch(async (error) => {
        if (error.code !== 'EXDEV') throw error
        const copy = await copyAcross(from, to.folder, { paths, clock, signal })
        const whole = { isDirectory: isFolder, recursive: true, clock }
        await onceFree(clock, signal, () => rename(to.folder.entry(copy), target)).catch(async (failed) => {
          await removeEntry(to.folder, copy, { ...whole, signal: new AbortController().signal })
          throw failed
        })
        await removeEntry(from.folder, from.name, { ...whole, signal }).catch((failed) => {
          reportCopy()
          throw new ToolFailed(`It was copied to the new path, but the old one could not be removed whole: ${failed.message}`)
        })
      })
    } catch (error) {
      // Removes only a target that is still empty, as it was reserved.
      if (aside !== undefined) await unlink(to.folder.entry(aside)).catch(() => {})
      if (!replaced) await (isFolder ? rmdir(target) : removeReserved(to)).catch(() => {})
      throw error
    }
    for (const { handle } of [from.folder, to.folder]) await handle.sync().catch(() => {})
    return aside
  }
}

const kindOf = (stat: Stats) => stat.isDirectory() ? 'directory' : stat.isSymbolicLink() ? 'symlink' : 'file'

async function reserve ({ folder, name }: Place, isFolder: boolean): Promise<void> {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = constants
  if (isFolder) await mkdir(folder.entry(name))
  else await (await open(folder.entry(name), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)).close()
}

async function removeReserved ({ folder, name }: Place): Promise<void> {
  const stat = await lstat(folder.entry(name))
  if (stat.isFile() && stat.size === 0) await unlink(folder.entry(name))
}

async function assertReplaceable (to: Place, old: Stats, moved: Stats, { to: path, overwrite }: Static<typeof Input>): Promise<void> {
  const shown = JSON.stringify(path)
  if (old.isDirectory()) {
    throw new ToolFailed(`${shown} is a folder that is there already. To move into it, give the whole new path: ${JSON.stringify(
      `${path}/<name>`
    )}.`)
  }
  if (moved.isDirectory()) throw new ToolFailed(`${shown} is there already, and a folder replaces nothing. Choose another name.`)
  if (!overwrite) {
    throw new ToolFailed(`${shown} is there already. Nothing was moved: choose another name, or pass overwrite: true to replace it.`)
  }
  if (!old.isFile() && !old.isSymbolicLink()) throw new PathRefused(`${shown} is a device or pipe and is not replaced.`)
  // rename(2) checks only the permissions of the folder. If both names belong to the same file, rename(2) does nothing, so this is refused.
  if (old.isFile()) await access(to.folder.entry(to.name), constants.W_OK)
  if (old.ino === moved.ino && old.dev === moved.dev) throw new ToolFailed(`${shown} is another name of the same file. Delete one of them.`)
}

const CHUNK_BYTES = 1024 * 1024

/**
 * Copies an entry, a folder with everything in it, to a folder on another file system, and syncs the copy. Returns the temporary name of
 * the copy. Removes the copy and throws if it cannot be completed, for example because of an entry that is not a file, folder or link.
 */
async function copyAcross (
  { folder, name }: { folder: Folder, name: string },
  to: Folder,
  { paths, clock, signal }: { paths: PathPolicy, clock: Clock, signal: AbortSignal }
): Promise<string> {
  const temporary = temporaryName()
  try {
    await copy(folder, name, to, temporary)
    return temporary
  } catch (error) {
    const stat = await lstat(to.entry(temporary)).catch(() => undefined)
    const whole = { recursive: true, signal: new AbortController().signal, clock }
    if (stat) await removeEntry(to, temporary, { isDirectory: stat.isDirectory(), ...whole }).catch(() => {})
    throw signal.aborted ? signal.reason : error
  }

  async function copy (from: Folder, name: string | Buffer, into: Folder, newName: string | Buffer): Promise<void> {
    signal.throwIfAborted()
    const stat = await lstat(from.entry(name))
    // setuid and setgid are dropped, as for every written file.
    const mode = stat.mode & 0o777
    if (stat.isSymbolicLink()) return symlink(await readlink(from.entry(name), { encoding: 'buffer' }), into.entry(newName))
    if (stat.isFile()) {
      return withFile(from, name, paths, async (file) => {
        const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = constants
        const made = await open(into.entry(newName), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
        try {
          await copyBytes(file, made)
          await made.utimes(stat.atime, stat.mtime)
          await made.chmod(mode)
          await made.sync()
        } finally {
          await made.close()
        }
      })
    }
    if (!stat.isDirectory()) throw new PathRefused(`${JSON.stringify(name.toString())} is a device, pipe or socket and cannot be copied.`)
    await mkdir(into.entry(newName), 0o700)
    await withSubfolder(from, name, (inner) =>
      withSubfolder(into, newName, async (made) => {
        if (await isMounted(from, inner)) {
          throw new PathRefused(`Something is mounted at ${JSON.stringify(inner.path)}: what it holds is not moved.`)
        }
        for (const entry of await readdir(inner.entry('.'), { encoding: 'buffer' })) await copy(inner, entry, made, entry)
        await made.handle.chmod(mode)
        await made.handle.sync().catch(() => {})
      }))
  }

  async function copyBytes (from: FileHandle, to: FileHandle): Promise<void> {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
    for (let at = 0; ;) {
      signal.throwIfAborted()
      const { bytesRead } = await from.read(chunk, 0, chunk.length, at)
      if (bytesRead === 0) return
      await to.write(chunk, 0, bytesRead, at)
      at += bytesRead
    }
  }
}
