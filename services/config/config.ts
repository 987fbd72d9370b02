import { join } from 'node:path'
import { defineError } from '../lib/service-error.ts'
import type { Config } from '../../schemas/config.ts'
import { checkConfig } from './check-config.ts'
import { restrictAccess, keepInvalidCopy, NotAFile, prepareDirectory, readConfigFile, requireFile, writeConfigFile } from './config-file.ts'
import { mask } from './mask-secrets.ts'

export const ConfigRejected = defineError(
  'ERR_CONFIG_INVALID',
  'config.json was not applied: %s. Correct it and reload; until then the last valid configuration stays in effect.'
)
export const ConfigNotSaved = defineError(
  'ERR_CONFIG_NOT_SAVED',
  'config.json could not be written (%s): free disk space and check its permissions.'
)

export type ConfigService = Awaited<ReturnType<typeof openConfig>>

interface Options {
  /** `{config_dir}`; created when it is missing. */
  dir: string
  /** Called with each new configuration, including the first one. */
  onChange?(config: Config): void
}

/**
 * Manages the user's `config.json`: reads it at start and on `reload`, and writes it atomically (0600) with unknown keys and
 * key order kept. At start, a file that is not JSON is kept as a copy and defaults apply; of a valid JSON file, the valid keys
 * apply. A reload changes nothing unless the whole file is valid. Throws ConfigUnusable.
 */
export async function openConfig ({ dir, onChange = () => {} }: Options) {
  const file = join(dir, 'config.json')
  let raw: Record<string, unknown> = {}
  let current: Config = {}
  let problem: string | undefined
  let lastOperation: Promise<unknown> = Promise.resolve()
  const watchers = [onChange]

  function apply (value: Record<string, unknown>) {
    const { config, problems } = checkConfig(value)
    raw = value
    current = config
    problem = problems.length > 0
      ? `config.json: ${problems.join('; ')}. Defaults replace the invalid values; correct the file and reload`
      : undefined
    for (const watcher of watchers) watcher(current)
  }

  /** Runs operations one after the other: a reload must not undo a change that is being saved. */
  function enqueue<T> (work: () => Promise<T>): Promise<T> {
    const result = lastOperation.then(work)
    lastOperation = result.catch(() => {})
    return result
  }

  await prepareDirectory(dir)
  await requireFile(file)
  await restrictAccess(file)
  try {
    apply(await readConfigFile(file))
  } catch (error) {
    apply({})
    const copy = await keepInvalidCopy(file)
    problem = `config.json: ${(error as Error).message}. Defaults are in effect${
      copy ? `; a copy of the file is kept as ${copy}` : ''
    }. Correct it and reload`
  }

  return {
    dir,
    /** The current configuration. */
    get current (): Config {
      return current
    },
    /** The whole file as last applied. It may hold keys. */
    get raw (): Record<string, unknown> {
      return raw
    },
    /** The problem of the file as last applied; undefined when there is none. */
    get problem (): string | undefined {
      return problem
    },

    /** Adds a watcher, called with each new configuration before the reload or update resolves. */
    watch: (watcher: (config: Config) => void): void => {
      watchers.push(watcher)
    },

    /** Returns the whole file as last applied, for display: secrets are masked, and `known` secrets wherever they occur. */
    masked: (known: string[] = []) => mask(raw, known) as Record<string, unknown>,

    /** Reads the file again. Throws ConfigRejected and keeps the current configuration unless the whole file is valid. */
    reload: (): Promise<Config> =>
      enqueue(async () => {
        const value = await readConfigFile(file).catch((error: Error) => {
          throw new ConfigRejected(error.message)
        })
        const { problems } = checkConfig(value)
        if (problems.length > 0) throw new ConfigRejected(problems.join('; '))
        apply(value)
        return current
      }),

    /**
     * Applies a change and saves it; durable before it resolves. Edits that the user has made in the file meanwhile are kept
     * and take effect with it. A copy of an unreadable file is kept. Throws ConfigNotSaved.
     */
    update: (change: (config: Config) => Config): Promise<Config> =>
      enqueue(async () => {
        const base = await readConfigFile(file).catch(async (error) => {
          if (error instanceof NotAFile) throw new ConfigNotSaved(error.message)
          await keepInvalidCopy(file)
          return raw
        })
        const next = change(base as Config) as Record<string, unknown>
        await writeConfigFile(file, next).catch(({ code, message }: NodeJS.ErrnoException) => {
          throw new ConfigNotSaved(code ?? message)
        })
        apply(next)
        return current
      })
  }
}
