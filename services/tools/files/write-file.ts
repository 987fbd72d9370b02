import { constants } from 'node:fs'
import { access, lstat, mkdir, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, relative } from 'node:path'
import { Type, type Static } from '@sinclair/typebox'
import { newId } from '../../lib/ids.ts'
import type { Tool } from '../tool.ts'
import { about, PathRefused } from '../tool-errors.ts'
import type { PathPolicy } from '../path-policy.ts'
import { withFile, withFolder, withSubfolder, type Folder } from './open-folder.ts'
import { patch } from './diff.ts'

const LONGEST_CONTENT = 10 * 1024 * 1024

const Input = Type.Object({
  path: Type.String({
    minLength: 1,
    description: 'File to write: absolute, or relative to the working directory. Missing folders are made.'
  }),
  content: Type.String({ maxLength: LONGEST_CONTENT, description: 'The whole new content of the file; it replaces what is there.' })
}, { additionalProperties: false })

/** Bytes of the old content that are read for the diff. */
const COMPARED_BYTES = 1024 * 1024

/** `{path, bytesWritten, created, diff}`. A reader sees the old content or the new, never a part; so does a crash. */
export function createWriteFile ({ paths }: { paths: PathPolicy }): Tool<Static<typeof Input>> {
  return {
    name: 'writeFile',
    description: 'Write a text file, creating it or replacing its whole content. Answers with a unified diff of the change.',
    inputSchema: Input,
    effect: 'write',
    execute: ({ path, content }, { cwd, signal }) =>
      about(path, async () => {
        const real = await paths.resolve(path, cwd)
        return withMadeFolder(dirname(real), async (folder) => {
          const name = basename(real)
          const before = await examine(folder, name, paths)
          await replace(folder, name, content, before?.mode, signal)
          return {
            path: real,
            bytesWritten: Buffer.byteLength(content),
            created: before === undefined,
            diff: await patch(relative(cwd, real), before === undefined ? null : before.text, content)
          }
        })
      })
  }
}

/** The folder with the real path, made with its parents when it is not there. */
async function withMadeFolder<T> (path: string, work: (folder: Folder) => Promise<T>): Promise<T> {
  const there = await lstat(path).then(() => true, (error) => error.code !== 'ENOENT')
  if (there || path === dirname(path)) return withFolder(path, work)
  return withMadeFolder(dirname(path), async (parent) => {
    const name = basename(path)
    await mkdir(parent.entry(name)).catch((error) => {
      if (error.code !== 'EEXIST') throw error
    })
    return withSubfolder(parent, name, work)
  })
}

/** What is replaced: its mode, and its text when that can be compared. Refuses what is no file or may not be written. */
async function examine (folder: Folder, name: string, paths: PathPolicy): Promise<{ mode: number, text?: string } | undefined> {
  const stat = await lstat(folder.entry(name || '.')).catch((error) => {
    if (error.code !== 'ENOENT') throw error
  })
  if (stat === undefined) return undefined
  // Not the bits that lend its owner's rights: they were meant for the old content.
  const mode = stat.mode & 0o777
  if (!stat.isFile()) throw new PathRefused(`${JSON.stringify(name)} is a folder or another thing that is not a regular file.`)
  // Renaming over a file asks only its folder: a read-only file is left alone.
  await access(folder.entry(name), constants.W_OK)
  if (stat.size > COMPARED_BYTES) return { mode }
  return withFile(folder, name, paths, async (file) => {
    const bytes = await file.readFile()
    return bytes.includes(0) ? { mode } : { mode, text: bytes.toString('utf8') }
  })
}

async function replace (folder: Folder, name: string, content: string, mode: number | undefined, signal: AbortSignal): Promise<void> {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = constants
  const temporary = folder.entry(`.${newId()}.tmp`)
  const file = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode ?? 0o666)
  try {
    try {
      if (mode !== undefined) await file.chmod(mode)
      await file.writeFile(content, { signal })
      await file.sync()
    } finally {
      await file.close()
    }
    signal.throwIfAborted()
    await rename(temporary, folder.entry(name))
  } catch (error) {
    await rm(temporary, { force: true })
    throw signal.aborted ? signal.reason : error
  }
  // Windows cannot sync a folder.
  await folder.handle.sync().catch(() => {})
}
