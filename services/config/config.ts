import { join } from 'node:path'
import { createError } from '@fastify/error'
import type { Config } from '../../schemas/config.ts'
import { checkConfig } from './check-config.ts'
import { closeToOthers, keepAside, NotAFile, prepareDirectory, readConfigFile, requireFile, writeConfigFile } from './config-file.ts'
import { mask } from './mask-secrets.ts'

export const ConfigRejected = createError(
  'ERR_CONFIG_INVALID',
  'config.json was not taken over: %s. Mend it and reload; until then the last good configuration stays in force.',
  400
)
export const ConfigNotSaved = createError(
  'ERR_CONFIG_NOT_SAVED',
  'config.json could not be written (%s): make room for it and check its permissions.',
  503
)

export type ConfigService = Awaited<ReturnType<typeof openConfig>>

interface Options {
  /** `{config_dir}`, made when there is none. */
  dir: string
  /** Told whenever another configuration comes into force, the first one too. */
  onChange?(config: Config): void
}

/**
 * The user's `config.json`: read at start and on `reload`, written whole and atomically (0600), unknown keys and
 * their order kept. A file that is not JSON is kept aside as a copy and the service starts without it; of one that is,
 * the keys that hold are in force. On reload nothing changes unless all of it holds. Throws ConfigUnusable.
 */
export async function openConfig ({ dir, onChange = () => {} }: Options) {
  const file = join(dir, 'config.json')
  let raw: Record<string, unknown> = {}
  let current: Config = {}
  let problem: string | undefined
  let turn: Promise<unknown> = Promise.resolve()
  const watchers = [onChange]

  function take (value: Record<string, unknown>) {
    const { config, problems } = checkConfig(value)
    raw = value
    current = config
    problem = problems.length > 0 ? `config.json: ${problems.join('; ')}. Defaults stand in; mend it and reload` : undefined
    for (const told of watchers) told(current)
  }

  /** One after the other: a reload must not undo a change that is being saved. */
  function inTurn<T> (work: () => Promise<T>): Promise<T> {
    const result = turn.then(work)
    turn = result.catch(() => {})
    return result
  }

  await prepareDirectory(dir)
  await requireFile(file)
  await closeToOthers(file)
  try {
    take(await readConfigFile(file))
  } catch (error) {
    take({})
    const copy = await keepAside(file)
    problem = `config.json: ${(error as Error).message}. Defaults are in force${
      copy ? `; the file as it was is kept as ${copy}` : ''
    }. Mend it and reload`
  }

  return {
    dir,
    /** The configuration in force. */
    get current (): Config {
      return current
    },
    /** The whole file as it was taken over. It may hold keys. */
    get raw (): Record<string, unknown> {
      return raw
    },
    /** What is wrong with the file that was taken over, until a reload or a change mends it. */
    get problem (): string | undefined {
      return problem
    },

    /** Has `told` called whenever another configuration comes into force, before whoever changed it goes on. */
    watch: (told: (config: Config) => void): void => {
      watchers.push(told)
    },

    /** The whole file as it was taken over, for showing: secrets masked, `known` ones wherever they stand. */
    masked: (known: string[] = []) => mask(raw, known) as Record<string, unknown>,

    /** Reads the file again; throws ConfigRejected and keeps the present configuration when not all of it holds. */
    reload: (): Promise<Config> =>
      inTurn(async () => {
        const value = await readConfigFile(file).catch((error: Error) => {
          throw new ConfigRejected(error.message)
        })
        const { problems } = checkConfig(value)
        if (problems.length > 0) throw new ConfigRejected(problems.join('; '))
        take(value)
        return current
      }),

    /**
     * Applies a change and saves it; durable before it resolves. What the user has written into the file meanwhile is
     * kept, and comes into force with it; a file that cannot be read is kept aside. Throws ConfigNotSaved.
     */
    update: (change: (config: Config) => Config): Promise<Config> =>
      inTurn(async () => {
        const base = await readConfigFile(file).catch(async (error) => {
          if (error instanceof NotAFile) throw new ConfigNotSaved(error.message)
          await keepAside(file)
          return raw
        })
        const next = change(base as Config) as Record<string, unknown>
        await writeConfigFile(file, next).catch(({ code, message }: NodeJS.ErrnoException) => {
          throw new ConfigNotSaved(code ?? message)
        })
        take(next)
        return current
      })
  }
}
