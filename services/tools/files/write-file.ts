import { constants } from 'node:fs'
import { access, lstat, mkdir, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, relative } from 'node:path'
import { Type, type Static } from '@sinclair/typebox'
import { newId } from '../../lib/ids.ts'
import type { Tool } from '../tool.ts'
import { withPathErrors, PathRefused } from '../tool-errors.ts'
import type { PathPolicy } from '../path-policy.ts'
import { withFile, withFolder, withSubfolder, type Folder } from './open-folder.ts'
import { unifiedDiff } from './diff.ts'
import { contentDigest, fileDigest } from './change-digest.ts'

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

/** `{path, bytesWritten, created, diff}`. The write is atomic: readers, and a crash, find the old content or the new, never a part. */
export function createWriteFile ({ paths }: { paths: PathPolicy }): Tool<Static<typeof Input>> {
  return {
    name: 'writeFile',
    description: 'Write a text file, creating it or replacing its whole content. Answers with a unified diff of the change.',
    inputSchema: Input,
    effect: 'write',
    proves: 'file',
    widestScope: 'folder',
    reportsChanges: true,
    target: ({ path }) => path,
    willChange: ({ path }, { cwd }) => withPathErrors(path, async () => [{ path: await paths.resolve(path, cwd) }]),
    execute: ({ path, content }, { cwd, signal, changed }) =>
      withPathErrors(path, async () => {
        const real = await paths.resolve(path, cwd)
        return withCreatedFolder(dirname(real), async (folder) => {
          const name = basename(real)
          const before = await examine(folder, name, paths, signal)
          await replace(folder, name, content, before?.mode, signal)
          changed?.({ path: real, before: before?.digest ?? null, after: contentDigest(content) })
          return {
            path: real,
            bytesWritten: Buffer.byteLength(content),
            created: before === undefined,
            diff: await unifiedDiff(relative(cwd, real), before === undefined ? null : before.text, content)
          }
        })
      })
  }
}

/** Opens the folder with the real path; creates it and its parents when they do not exist. */
async function withCreatedFolder<T> (path: string, work: (folder: Folder) => Promise<T>): Promise<T> {
  const exists = await lstat(path).then(() => true, (error) => error.code !== 'ENOENT')
  if (exists || path === dirname(path)) return withFolder(path, work)
  return withCreatedFolder(dirname(path), async (parent) => {
    const name = basename(path)
    await mkdir(parent.entry(name)).catch((error) => {
      if (error.code !== 'EEXIST') throw error
    })
    return withSubfolder(parent, name, work)
  })
}

/** The file that a write replaces: its text is absent when it cannot be compared. */
interface OldFile {
  mode: number
  digest: string
  text?: string
}

/** Examines the file to replace; undefined when there is none. Refuses a non-file and a read-only file. */
async function examine (folder: Folder, name: string, paths: PathPolicy, signal: AbortSignal): Promise<OldFile | undefined> {
  const stat = await lstat(folder.entry(name || '.')).catch((error) => {
    if (error.code !== 'ENOENT') throw error
  })
  if (stat === undefined) return undefined
  // Without setuid and setgid: these rights were granted to the old content.
  const mode = stat.mode & 0o777
  if (!stat.isFile()) throw new PathRefused(`${JSON.stringify(name)} is a folder or another thing that is not a regular file.`)
  // rename(2) checks only the folder's permissions, so a read-only file is refused here.
  await access(folder.entry(name), constants.W_OK)
  return withFile(folder, name, paths, async (file, size) => {
    if (size > COMPARED_BYTES) return { mode, digest: await fileDigest(file, size, signal) }
    const bytes = await file.readFile()
    const digest = contentDigest(bytes)
    return bytes.includes(0) ? { mode, digest } : { mode, digest, text: bytes.toString('utf8') }
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
