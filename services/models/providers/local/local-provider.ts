import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../../../lib/clock.ts'
import type { Config } from '../../../../schemas/config.ts'
import { createDirectProvider } from '../direct.ts'
import { ProviderNotConfigured } from '../failures.ts'
import type { LearnedNeeds } from '../learned-limits.ts'
import type { ModelInfo, Provider } from '../provider.ts'
import { findEngine } from './find-engine.ts'
import { createOwnFiles, type ModelFile } from './model-file-list.ts'
import { chooseWindow, memoryLeft, type ModelFit, readNeeds, sizeOf, stampOf, USUAL_LENGTH } from './model-fit.ts'
import { createModelPool, type ServedFile } from './model-pool.ts'
import { ServerFailed, type ServerParts, startModelServer } from './model-server.ts'
import { createLeasedModel } from './leased-model.ts'

export const LOCAL = 'local'

/** The most threads of a server: more threads make a usual computer no faster. */
const MOST_THREADS = 8
/** Idle servers of other models are ended to get a context window of this size, in tokens. */
const ENOUGH_WINDOW = 8_192
const NO_NEEDS: LearnedNeeds = { read: () => new Set(), note () {}, forget () {} }

interface Parts {
  settings: () => Pick<Config, 'engine' | 'providers'>
  /** The service's home. */
  home: string
  /** Returns the environment variables for child processes. */
  environment: () => NodeJS.ProcessEnv
  needsOf: (id: string, place: string) => LearnedNeeds
  clock: Clock
}

/** The provider of models that are files. */
interface LocalProvider extends Provider {
  /** True if there are model files, or if some might have been added. */
  hasFiles(): boolean
  /** Searches for model files again. */
  refresh(): Promise<void>
  /** Returns a file as a model; if it cannot be used, with the reason in `unavailable`. */
  describe(file: ModelFile): Promise<ModelInfo>
  /** Ends all servers. No server can be started afterwards. */
  end(): Promise<void>
}

type Pool = ReturnType<typeof createModelPool>

/** Observations since the service started, by the names of the models. */
interface Seen {
  /** The last speed of each model, in tokens a second. `isShort` is true if the speed was measured with few tokens. */
  speeds: Map<string, { tokensPerSecond: number, isShort: boolean }>
  /** Why the server of a model did not start, and the state of the model's file at that time (`stampOf`). */
  failures: Map<string, { stamp: string, why: string }>
}

const entryOf = ({ providers }: ReturnType<Parts['settings']>) => providers?.[LOCAL]

/** Throws ProviderNotConfigured with the message of `error`. Throws an AbortError unchanged. */
function refuse (model: string, error: unknown): never {
  if (error instanceof Error && error.name !== 'AbortError') throw new ProviderNotConfigured(`${LOCAL}/${model}`, error.message)
  throw error
}

const engineOf = ({ settings, home, environment }: Parts): string =>
  findEngine({ configured: settings().engine, home, environment: environment() })

/**
 * Returns the context window that a model gets, with its memory. Throws an Error whose message completes
 * "The model … cannot be used yet:".
 */
async function fitOf ({ name, path }: ModelFile, pool: Pool, { settings }: Parts): Promise<ModelFit> {
  return chooseWindow(await readNeeds(path), memoryLeft(pool.others(name)), entryOf(settings())?.window)
}

/**
 * Ends idle servers of other models until there is enough memory for a model. Calls `reserve` with the result before it returns the result.
 * Throws an Error whose message completes "The model … cannot be used yet:".
 */
async function makeRoom ({ name, path }: ModelFile, pool: Pool, { settings }: Parts, reserve: (fit: ModelFit) => void): Promise<ModelFit> {
  const needs = await readNeeds(path)
  const { window: configured } = entryOf(settings()) ?? {}
  const enough = Math.min(ENOUGH_WINDOW, needs.contextLength, configured ?? Infinity)
  for (;;) {
    const others = pool.others(name).map((each) => ({ ...each, state: each.state === 'idle' ? 'loaded' as const : each.state }))
    try {
      const fit = chooseWindow(needs, memoryLeft(others), configured)
      if (fit.window >= enough || !await pool.endIdle(name)) {
        reserve(fit)
        return fit
      }
    } catch (error) {
      if (await pool.endIdle(name)) continue
      const atWork = others.map((other) => `${LOCAL}/${other.name}`).join(' and ')
      throw atWork === '' ? error : new Error(`${(error as Error).message} ${atWork} is at work: try again when it has answered.`)
    }
  }
}

/** Starts the server of a file. Throws an Error whose message completes "The model … cannot be used yet:". */
async function serve (
  { name, path }: ModelFile,
  started: Pick<ServerParts, 'engine' | 'window' | 'signal'>,
  parts: Parts
): Promise<ServedFile> {
  const { environment, settings, needsOf, clock } = parts
  const threads = Math.max(1, Math.min(MOST_THREADS, availableParallelism() - 1))
  const server = await startModelServer({ ...started, path, name, threads, environment: environment(), clock })
  const provider = createDirectProvider({
    name: LOCAL,
    settings: () => ({ baseURL: server.baseURL, models: [name], timeouts: entryOf(settings())?.timeouts }),
    configuredKey: () => server.key,
    variables: {},
    // The server's address is different at each start, so the needs are stored by the path of the file.
    needsOf: (id) => needsOf(id, path),
    clock
  })
  return { server, provider }
}

/** Remembers why a server did not start, so that lists of models show the reason. */
async function noteFailure<T> ({ name, path }: ModelFile, { failures }: Seen, start: Promise<T>): Promise<T> {
  const stamp = stampOf(path)
  try {
    const started = await start
    failures.delete(name)
    return started
  } catch (error) {
    if (error instanceof ServerFailed) failures.set(name, { stamp, why: error.message })
    throw error
  }
}

const asSentence = (text: string) => `${text[0].toUpperCase()}${text.slice(1)}`

/** Returns a file as lists of models show it. */
async function describeFile (file: ModelFile, pool: Pool, { speeds, failures }: Seen, parts: Parts): Promise<ModelInfo> {
  const { name, path } = file
  const info: ModelInfo = { id: `${LOCAL}/${name}`, name, provider: LOCAL }
  try {
    const facts = { ...info, sizeBytes: sizeOf(path), state: pool.stateOf(name), tokensPerSecond: speeds.get(name)?.tokensPerSecond }
    const served = pool.served(name)
    if (served !== undefined) return { ...facts, contextWindow: served.server.window }
    const failure = failures.get(name)
    if (failure?.stamp === stampOf(path)) return { ...facts, unavailable: asSentence(failure.why) }
    const { window } = await fitOf(file, pool, parts)
    engineOf(parts)
    return { ...facts, contextWindow: window }
  } catch (error) {
    return { ...info, unavailable: asSentence((error as Error).message) }
  }
}

/** Creates the provider whose models are files on this computer, each served by a llama.cpp server of its own while it is used. */
export function createLocalProvider (parts: Parts): LocalProvider {
  const { settings, home, clock } = parts
  const files = createOwnFiles(join(home, 'models'), () => entryOf(settings())?.files)
  const keys = new Set<string>()
  const seen: Seen = { speeds: new Map(), failures: new Map() }

  const pool: Pool = createModelPool({
    clock,
    async start (file, signal, reserve) {
      const engine = engineOf(parts)
      const { window } = await makeRoom(file, pool, parts, reserve)
      const served = await noteFailure(file, seen, serve(file, { engine, window, signal }, parts))
      keys.add(served.server.key)
      return served
    }
  })

  async function lease (name: string) {
    const file = await files.find(name)
    const known = files.list().map((each) => `${LOCAL}/${each.name}`).join(', ')
    if (file === undefined) return refuse(name, new Error(`no file has that name. There is ${known || 'no file yet'}.`))
    try {
      return await pool.lease(file, stampOf(file.path))
    } catch (error) {
      return refuse(name, error)
    }
  }

  const describe = (file: ModelFile) => describeFile(file, pool, seen, parts)
  return {
    name: LOCAL,
    ...{ kind: 'direct', reach: 'machine' },
    hasFiles: files.hasAny,
    refresh: files.refresh,
    describe,
    get defaultModel () {
      return `${LOCAL}/${files.list()[0]?.name ?? 'default'}`
    },
    get contextWindow () {
      return entryOf(settings())?.window ?? USUAL_LENGTH
    },
    configured: () => true,
    timeouts: () => entryOf(settings())?.timeouts ?? {},
    // All files count as one local server, because their servers share the processors of this computer.
    localServer: async () => LOCAL,
    advice: { key: 'its server refuses the key that it was started with.', address: 'whether the file is whole' },
    secrets: () => [...keys],
    languageModel: async (name) => createLeasedModel({
      ...{ provider: LOCAL, name, clock, lease: () => lease(name) },
      onSpeed (tokensPerSecond, isShort) {
        if (!isShort || seen.speeds.get(name)?.isShort !== false) seen.speeds.set(name, { tokensPerSecond, isShort })
      }
    }),
    listModels: () => files.refresh().then(() => Promise.all(files.list().map(describe))),
    async windowInUse (name) {
      const file = files.list().find((each) => each.name === name)
      return file && (await describe(file)).contextWindow
    },
    needsOf: (name) => pool.served(name)?.provider.needsOf?.(name) ?? NO_NEEDS,
    end: pool.end
  }
}
