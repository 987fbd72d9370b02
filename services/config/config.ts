import { isDeepStrictEqual } from 'node:util'
import { Check } from '@sinclair/typebox/value'
import { Ajv, type ValidateFunction } from 'ajv'
import { ConfigKeys, MOST_SERVERS, type Config } from '../../schemas/config.ts'
import type { ComparedConfig } from '../../schemas/backup.ts'
import type { ConfigPatch } from '../../schemas/config-patch.ts'
import { describeInvalid, type FailedRule } from '../http/index.ts'
import { join } from 'node:path'
import { isLoopback } from '../lib/is-loopback.ts'
import { defineError } from '../lib/service-error.ts'
import { guardedDifferences, merge, refuseMasks, requireOpen, mask } from './config-patch.ts'
import { readServers } from './readme-servers.ts'
import { restrictAccess, keepInvalidCopy, NotAFile, prepareDirectory, readConfigFile, requireFile, writeConfigFile } from './config-file.ts'

let validators: Map<string, ValidateFunction> | undefined

/** Splits a parsed `config.json` into its valid part and one problem for each invalid key. Ignores unknown keys. */
function checkConfig (raw: Record<string, unknown>): { config: Config, problems: string[] } {
  const config: Record<string, unknown> = {}
  const problems: string[] = []
  for (const [key, value] of Object.entries(raw)) {
    if (!Object.hasOwn(ConfigKeys, key)) continue
    // TypeBox validates quickly. An Ajv validator is compiled only to explain a problem, because compiling delays the start.
    const validate = Check(ConfigKeys[key as keyof typeof ConfigKeys], value) ? undefined : validator(key)
    const exposed = key === 'reach' && !validate ? isExposed(value as NonNullable<Config['reach']>) : false
    const unreachable = key === 'providers' && !validate ? withoutAddress(value as NonNullable<Config['providers']>) : undefined
    if (unreachable !== undefined) {
      const other = unreachable === 'local' ? ', "files" of models,' : ''
      problems.push(`"providers.${unreachable}" needs the field "baseURL"${other || ','} or a "kind" of openai, anthropic or google`)
    } else if (exposed) {
      problems.push('"reach.host" names an address that other machines reach, which needs HTTPS in front: give its https address as ' +
        '"reach.address", or leave "reach.host" out')
    } else if (!validate || validate(value)) config[key] = value
    else {
      const { path, message } = describeInvalid(validate.errors as FailedRule[])
      problems.push(`"${key}${path === '/' ? '' : path.replaceAll('/', '.')}" ${message}`)
    }
  }
  return { config: withReadmeServers(config as Config, problems), problems }
}

/**
 * Adds the tool servers of `mcpServers` and `servers` to those of `mcp`. Adds a problem for each server that
 * cannot be used. Of several servers with the same name, the first one is used.
 */
function withReadmeServers (config: Config, problems: string[]): Config {
  const { mcp = [], mcpServers = {}, servers = {} } = config
  const all = [...mcp]
  const names = new Set(mcp.map(({ name }) => name))
  for (const [key, object] of Object.entries({ mcpServers, servers })) {
    for (const { from, name, entry, problem } of readServers(Object.entries(object))) {
      const why = problem ?? (names.has(name) ? 'there is another entry of its name' : undefined) ??
        (all.length < MOST_SERVERS ? undefined : `there are more than ${MOST_SERVERS}`)
      if (why !== undefined) problems.push(`"${key}.${from}" is not connected: ${why}`)
      else {
        all.push(entry!)
        names.add(name)
      }
    }
  }
  return all.length > mcp.length ? { ...config, mcp: all } : config
}

/** Returns the name of a provider that needs a `baseURL` and has none. The error of a union schema would not name the missing field. */
const withoutAddress = (providers: NonNullable<Config['providers']>): string | undefined =>
  Object.entries(providers).find(([name, { kind, baseURL, files }]) =>
    (kind === undefined || kind === 'openai-compatible') && baseURL === undefined && (name !== 'local' || files === undefined)
  )?.[0]

/** Whether paired devices would send their keys over the network without HTTPS. */
const isExposed = ({ host, address }: NonNullable<Config['reach']>): boolean =>
  host !== undefined && address === undefined && !isLoopback(host)

function validator (key: string): ValidateFunction {
  validators ??= new Map()
  let validate = validators.get(key)
  if (validate === undefined) {
    // The schemas are part of the service and valid; checking them against the meta-schema would take most of the start-up time.
    validate = new Ajv({ strict: false, verbose: true, meta: false, validateSchema: false }).compile(
      ConfigKeys[key as keyof typeof ConfigKeys]
    )
    validators.set(key, validate)
  }
  return validate
}

const ConfigRejected = defineError(
  'ERR_CONFIG_INVALID',
  'config.json was not applied: %s. Correct it and reload; until then the last valid configuration stays in effect.'
)
const ConfigRefused = defineError('ERR_CONFIG_INVALID', 'config.json was not changed: %s.')
const ConfigUnreadable = defineError(
  'ERR_CONFIG_UNREADABLE',
  'config.json was not changed, because %s. Correct the file first; until then the last valid configuration stays in effect.'
)
const ConfigNotSaved = defineError(
  'ERR_CONFIG_NOT_SAVED',
  'config.json could not be written (%s): free disk space and check its permissions.'
)

/** Keys of config.json that are read only when the service starts. */
const AT_START: ReadonlyArray<keyof Config> = ['port']

export type ConfigService = Awaited<ReturnType<typeof openConfig>>

/**
 * Opens the service that manages the user's `config.json`: it reads the file at start and on `reload`, and writes it atomically
 * (mode 0600), keeping unknown keys and the order of keys. At start, a file that is not JSON is kept as a copy and defaults apply;
 * of a valid JSON file, the valid keys apply. A reload changes nothing unless the whole file is valid. Throws ConfigUnusable.
 */
export async function openConfig ({ dir, hasToken = false, onChange = () => {} }: {
  /** The configuration directory; created if it is missing. */
  dir: string
  /** True if the service has a token. Without a token, requests can change only the keys in OPEN. */
  hasToken?: boolean
  /** Called with each new configuration, including the first one. */
  onChange?(config: Config): void
}) {
  const file = join(dir, 'config.json')
  let raw: Record<string, unknown> = {}
  let current: Config = {}
  let problem: string | undefined
  let lastOperation: Promise<unknown> = Promise.resolve()
  const watchers = [onChange]
  const checks: Array<(config: Config) => void> = []

  function apply (value: Record<string, unknown>) {
    const { config, problems } = checkConfig(value)
    raw = value
    current = config
    problem = problems.length > 0
      ? `config.json: ${problems.join('; ')}. Defaults replace the invalid values; correct the file and reload`
      : undefined
    for (const watcher of watchers) watcher(current)
  }

  async function save (next: Record<string, unknown>): Promise<void> {
    await writeConfigFile(file, next).catch(({ code, message }: NodeJS.ErrnoException) => {
      throw new ConfigNotSaved(code ?? message)
    })
    apply(next)
  }

  /** Runs operations one at a time, so that a reload cannot undo a change that is being saved. */
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
    /** The whole file as last applied. It can contain secrets. */
    get raw (): Record<string, unknown> {
      return raw
    },
    /** The problem of the file as last applied; undefined if there is none. */
    get problem (): string | undefined {
      return problem
    },

    /** Adds a watcher that is called with each new configuration, before the reload or update resolves. */
    watch: (watcher: (config: Config) => void): void => {
      watchers.push(watcher)
    },

    /** Adds a check that is called with the keys that a patch changes. If the check throws, the patch is refused. */
    addCheck: (check: (changed: Config) => void): void => {
      checks.push(check)
    },

    /** Returns the whole file as last applied, for display: likely secrets are masked, and the secrets in `known` wherever they occur. */
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
     * Applies a change and saves the file. Resolves when the file is on disk. Edits that the user has made in the file meanwhile are
     * kept and take effect together with the change. An unreadable file is copied before it is overwritten. Throws ConfigNotSaved.
     */
    update: (change: (config: Config) => Config): Promise<Config> =>
      enqueue(async () => {
        const base = await readConfigFile(file).catch(async (error) => {
          if (error instanceof NotAFile) throw new ConfigNotSaved(error.message)
          await keepInvalidCopy(file)
          return raw
        })
        const next = change(base as Config) as Record<string, unknown>
        await save(next)
        return current
      }),

    /**
     * Returns the configuration that an import of `next` would result in. `settings`: for display, the keys that
     * `next` changes and that only callers with a token are allowed to change. If the service has no token, these keys keep
     * their present values as a whole, and `kept` names them.
     */
    compareImport: (next: Record<string, unknown>): Promise<ComparedConfig> =>
      enqueue(async () => {
        const base = await readConfigFile(file).catch(() => raw)
        const guarded = guardedDifferences(base, next)
        const kept = hasToken ? [] : guarded
        const stays = ([name]: [string, unknown]) => kept.includes(name)
        const settings = Object.fromEntries(guarded.map((name) => [name, next[name] ?? null]))
        return {
          config: Object.fromEntries([...Object.entries(next).filter((entry) => !stays(entry)), ...Object.entries(base).filter(stays)]),
          ...(guarded.length > 0 && { settings: mask(settings) as Record<string, unknown> }),
          ...(kept.length > 0 && { kept })
        }
      }),

    /**
     * Applies a JSON merge patch and saves the file. Resolves when the file is on disk. Edits that the user has made
     * in the file meanwhile are kept and take effect together with the patch. Returns `restart`, the changed keys
     * that take effect only after a restart, and `problem`, any other fault of the file. Throws Masked,
     * ConfigRefused or the error of a check (400), NeedsToken (403), ConfigUnreadable (409), or ConfigNotSaved.
     */
    patch: (changes: ConfigPatch): Promise<{ restart: string[], problem?: string }> =>
      enqueue(async () => {
        refuseMasks(changes)
        if (!hasToken) requireOpen(changes)
        const base = await readConfigFile(file).catch((error: Error) => {
          throw error instanceof NotAFile ? new ConfigNotSaved(error.message) : new ConfigUnreadable(error.message)
        })
        const next = merge(base, changes) as Record<string, unknown>
        const names = Object.keys(changes)
        const touched = Object.fromEntries(names.filter((name) => Object.hasOwn(next, name)).map((name) => [name, next[name]]))
        const { problems } = checkConfig(touched)
        if (problems.length > 0) throw new ConfigRefused(problems.join('; '))
        for (const check of checks) check(touched as Config)
        const before = current
        await save(next)
        return {
          restart: AT_START.filter((key) => !isDeepStrictEqual(before[key], current[key])),
          ...(problem !== undefined && { problem })
        }
      })
  }
}
