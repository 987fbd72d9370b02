import { createHash } from 'node:crypto'
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseJson } from '../json.ts'

/** The configuration directory cannot be used at all; the process ends with `exitCode`. */
export class ConfigUnusable extends Error {
  readonly exitCode = 78
}

/** Why `config.json` holds no configuration, as the end of a sentence. It names no path. */
export class ConfigUnreadable extends Error {}

/** Of a folder such as /tmp: closing that would take it away from everybody. */
const STICKY = 0o1000

/** Makes `{config_dir}` when there is none, for its owner alone. Throws ConfigUnusable. */
export async function prepareDirectory (dir: string): Promise<void> {
  try {
    await mkdir(dir, { recursive: true, mode: 0o700 })
    if (((await stat(dir)).mode & STICKY) !== 0) throw new Error('other users write there too')
    await chmod(dir, 0o700)
  } catch (error) {
    throw new ConfigUnusable(`The configuration directory ${dir} cannot be used: ${(error as Error).message}. ` +
      'Set LOCAL_AGENT_HOME to a folder this user may write.')
  }
}

/** Closes a `config.json` that others may read: it may hold keys. */
export async function closeToOthers (file: string): Promise<void> {
  const { mode } = await stat(file).catch(() => ({ mode: 0 }))
  if ((mode & 0o077) !== 0) await chmod(file, mode & 0o700).catch(() => {})
}

/** The object in the file; `{}` when there is no file. Throws ConfigUnreadable. */
export async function readConfigFile (file: string): Promise<Record<string, unknown>> {
  const text = await readFile(file, 'utf8').catch(({ code }: NodeJS.ErrnoException) => {
    if (code === 'ENOENT') return '{}'
    throw new ConfigUnreadable(`it cannot be read (${code})`)
  })
  let value: unknown
  try {
    value = parseJson(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    throw new ConfigUnreadable(`it is not JSON (${(error as Error).message})`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new ConfigUnreadable('it is not a JSON object')
  return value as Record<string, unknown>
}

/** Written whole or not at all, readable by its owner only, on disk before it resolves. */
export async function writeConfigFile (file: string, value: object): Promise<void> {
  const { default: writeFileAtomic } = await import('write-file-atomic')
  await writeFileAtomic(file, JSON.stringify(value, null, 2) + '\n', { mode: 0o600 })
}

/**
 * Copies the file beside itself and returns the copy's name; undefined when it cannot be copied. The name comes from
 * the contents, so that starting again and again keeps one.
 */
export async function keepAside (file: string): Promise<string | undefined> {
  try {
    const contents = await readFile(file)
    const name = `config.json.invalid-${createHash('sha256').update(contents).digest('hex').slice(0, 8)}`
    await writeFile(join(file, '..', name), contents, { mode: 0o600 })
    return name
  } catch {
    return undefined
  }
}
