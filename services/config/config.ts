import { createHash } from 'node:crypto'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createError } from '@fastify/error'
import type { Config } from '../../schemas/config.ts'
import { checkConfig } from './check.ts'
import { mask } from './mask.ts'

export const ConfigRejected = createError('ERR_CONFIG_INVALID', 'config.json was not taken over: %s', 400)

/** The configuration directory cannot be used at all; the process ends with `exitCode`. */
export class ConfigUnusable extends Error {
  readonly exitCode = 78
}

export type ConfigService = Awaited<ReturnType<typeof openConfig>>

/**
 * The user's `config.json`: read at start and on `reload`, written whole and atomically (0600), unknown keys and
 * their order kept. What cannot be read at start is kept aside as a copy and the service starts without it; on
 * reload the last good configuration stays and ConfigRejected (400) says why.
 */
export async function openConfig ({ dir }: { dir: string }) {
  const file = join(dir, 'config.json')
  let raw: Record<string, unknown> = {}
  let problem: string | undefined
  let writing: Promise<unknown> = Promise.resolve()

  await prepare(dir)
  try {
    const read = await load(file)
    raw = read.value
    problem = read.problems[0]
  } catch (error) {
    problem = (error as Error).message
  }
  if (problem !== undefined) problem = await keepAside(file, problem)

  /** Only the keys that hold: a wrong one counts as absent, so its default applies. */
  let current = checkConfig(raw).config

  return {
    dir,
    /** The configuration in force. */
    get current (): Config { return current },
    /** What was wrong with the file at start, until a reload or a change mends it. */
    get problem (): string | undefined { return problem },

    /** The whole file as it was read, for showing: secrets masked. */
    masked: () => mask(raw) as Record<string, unknown>,

    /** Reads the file again; throws ConfigRejected and keeps the present configuration when it does not hold. */
    async reload (): Promise<Config> {
      const read = await load(file).catch((error: Error) => { throw new ConfigRejected(error.message) })
      if (read.problems.length > 0) throw new ConfigRejected(read.problems.join('; '))
      raw = read.value
      current = checkConfig(raw).config
      problem = undefined
      return current
    },

    /** Applies a change to the file's contents and saves it; durable before it resolves. */
    update (change: (config: Config) => Config): Promise<Config> {
      const saved = writing.then(async () => {
        const next = change(raw as Config) as Record<string, unknown>
        const { default: writeFileAtomic } = await import('write-file-atomic')
        await writeFileAtomic(file, JSON.stringify(next, null, 2) + '\n', { mode: 0o600 })
        raw = next
        current = checkConfig(raw).config
        return current
      })
      writing = saved.catch(() => {})
      return saved
    }
  }
}

async function prepare (dir: string) {
  try {
    await mkdir(dir, { recursive: true, mode: 0o700 })
    await chmod(dir, 0o700)
  } catch (error) {
    throw new ConfigUnusable(`The configuration directory ${dir} cannot be used: ${(error as Error).message}. ` +
      'Set LOCAL_AGENT_HOME to a folder this user may write.')
  }
}

async function load (file: string) {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { value: {}, problems: [] }
    throw error
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new Error(`it is not JSON (${(error as Error).message})`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('it is not a JSON object')
  return { value: value as Record<string, unknown>, problems: checkConfig(value as Record<string, unknown>).problems }
}

/** The copy is named by its contents, so that starting again and again keeps one. */
async function keepAside (file: string, problem: string): Promise<string> {
  const contents = await readFile(file)
  const name = `config.json.invalid-${createHash('sha256').update(contents).digest('hex').slice(0, 8)}`
  await writeFile(join(file, '..', name), contents, { mode: 0o600 })
  return `config.json: ${problem}. What could be read is in force; the file as it was is kept as ${name}.`
}
