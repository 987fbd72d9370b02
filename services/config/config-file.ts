import { createHash } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { chmod, lstat, mkdir, open, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writeAtomically } from '../lib/file-system.ts'
import { parseJson } from '../lib/json.ts'

/** The configuration directory cannot be used; the process exits with `exitCode`. */
export class ConfigUnusable extends Error {
  readonly exitCode = 78
}

/** `config.json` cannot be read. The message is a clause with the reason, such as "it is not a JSON object", and contains no paths. */
class ConfigUnreadable extends Error {}

/** `config.json` is not a regular file, or is a broken link. */
export class NotAFile extends ConfigUnreadable {}

/**
 * Flags for opening a file: it must not block on a FIFO, and must not make a terminal the controlling terminal. Windows has neither flag.
 */
const { O_RDONLY, O_NONBLOCK = 0, O_NOCTTY = 0 } = constants

/** The sticky bit in the mode of shared folders such as /tmp, whose permissions must not be restricted. */
const STICKY = 0o1000

/** Creates the configuration directory if it is missing, and restricts access to its owner. Throws ConfigUnusable. */
export async function prepareDirectory (dir: string): Promise<void> {
  try {
    await mkdir(dir, { recursive: true, mode: 0o700 })
    if (((await stat(dir)).mode & STICKY) !== 0) throw new Error('it is a folder shared with other users')
    await chmod(dir, 0o700)
  } catch (error) {
    throw new ConfigUnusable(
      `The configuration directory ${dir} cannot be used: ${(error as Error).message}. ` +
        'Set LOCAL_AGENT_HOME to a folder that this user may write to.'
    )
  }
}

/**
 * Throws ConfigUnusable if the path of `config.json` is something other than a regular file. It is left alone,
 * because its purpose is unknown.
 */
export async function requireFile (file: string): Promise<void> {
  await kindOf(file).catch((error) => {
    if (!(error instanceof NotAFile)) return
    throw new ConfigUnusable(`${file} cannot be used: ${error.message}. Move it away, or set LOCAL_AGENT_HOME to another folder.`)
  })
}

/**
 * Returns whether the configuration file exists. Throws NotAFile for a folder, another special file or a link without a target, and other
 * errors of the file system.
 */
async function kindOf (file: string): Promise<'file' | 'none'> {
  try {
    checkKind(await stat(file))
    return 'file'
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ELOOP') throw new NotAFile('it is a link that leads nowhere')
    if (code !== 'ENOENT') throw error
    const isLink = await lstat(file).then(() => true, () => false)
    if (isLink) throw new NotAFile('it is a link to a file that does not exist')
    return 'none'
  }
}

function checkKind (stats: Stats): void {
  if (stats.isFile()) return
  throw new NotAFile(
    `it is ${stats.isDirectory() ? 'a folder' : stats.isFIFO() ? 'a FIFO' : stats.isSocket() ? 'a socket' : 'a device'}, not a file`
  )
}

/** Reads the file; undefined if it does not exist. Throws NotAFile. Never blocks on a FIFO. */
async function read (file: string): Promise<Buffer | undefined> {
  if (await kindOf(file) === 'none') return undefined
  const handle = await open(file, O_RDONLY | O_NONBLOCK | O_NOCTTY)
  try {
    checkKind(await handle.stat())
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}

/** Removes the access of other users to `config.json`, because the file can contain keys. Does nothing if that is impossible. */
export async function restrictAccess (file: string): Promise<void> {
  const { mode } = await stat(file).catch(() => ({ mode: 0 }))
  if ((mode & 0o077) !== 0) await chmod(file, mode & 0o700).catch(() => {})
}

/** Reads and parses the JSON object in the file; {} if there is no file. Throws ConfigUnreadable. */
export async function readConfigFile (file: string): Promise<Record<string, unknown>> {
  const bytes = await read(file).catch((error) => {
    throw error instanceof NotAFile ? error : new ConfigUnreadable(`it cannot be read (${error.code})`)
  })
  const text = bytes?.toString() ?? '{}'
  let value: unknown
  try {
    value = parseJson(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    throw new ConfigUnreadable(`it is not JSON (${(error as Error).message})`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new ConfigUnreadable('it is not a JSON object')
  return value as Record<string, unknown>
}

/** Writes the file atomically, readable by its owner only. Resolves when the file is on disk. */
export async function writeConfigFile (file: string, value: object): Promise<void> {
  await writeAtomically(file, JSON.stringify(value, null, 2) + '\n')
}

/**
 * Copies an invalid file to the same folder and returns the name of the copy; undefined if that fails. The name
 * is derived from the contents, so that repeated starts keep only one copy.
 */
export async function keepInvalidCopy (file: string): Promise<string | undefined> {
  try {
    const contents = await read(file)
    if (contents === undefined) return undefined
    const name = `config.json.invalid-${createHash('sha256').update(contents).digest('hex').slice(0, 8)}`
    await writeFile(join(file, '..', name), contents, { mode: 0o600 })
    return name
  } catch {
    return undefined
  }
}
