import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { LanguageModelV4, LanguageModelV4StreamResult } from '@ai-sdk/provider'
import type { Clock } from '../../../lib/clock.ts'
import type { Config } from '../../../../schemas/config.ts'
import { createDirectProvider } from '../direct.ts'
import { ProviderNotConfigured } from '../failures.ts'
import type { LearnedNeeds } from '../learned-limits.ts'
import { type BatchedResult, batchesOf, type PartBatches, streamOf } from '../part-batches.ts'
import type { ModelInfo, Provider } from '../provider.ts'
import { findEngine } from './find-engine.ts'
import { expandHome, type ModelFile, modelFileAt, modelFilesBelow } from './model-file-list.ts'
import { stampOf, USUAL_LENGTH, windowThatFits } from './model-fit.ts'
import { createModelPool, type ServedFile } from './model-pool.ts'
import { startModelServer } from './model-server.ts'

export const LOCAL = 'local'

/** More make a usual computer no faster. */
const MOST_THREADS = 8
/** Folders below `models/` that are looked into. */
const DEPTH = 2
const NO_NEEDS: LearnedNeeds = { read: () => new Set(), note () {}, forget () {} }

interface Parts {
  settings: () => Pick<Config, 'engine' | 'providers'>
  /** The service's home. */
  home: string
  /** The environment of its children. */
  environment: () => NodeJS.ProcessEnv
  needsOf: (id: string, place: string) => LearnedNeeds
  clock: Clock
}

/** The provider of models that are files. */
interface LocalProvider extends Provider {
  /** Whether there are files, as was seen last. */
  hasFiles(): boolean
  /** Looks for files. */
  refresh(): Promise<void>
  /** Returns a file as the model that it is, or why it cannot be one. */
  describe(file: ModelFile): Promise<ModelInfo>
  /** Ends all servers, for good. */
  end(): Promise<void>
}

const entryOf = ({ providers }: ReturnType<Parts['settings']>) => providers?.[LOCAL]

/** Throws the sentence about why a model cannot be used. */
function refuse (model: string, error: unknown): never {
  if (error instanceof Error && error.name !== 'AbortError') throw new ProviderNotConfigured(`${LOCAL}/${model}`, error.message)
  throw error
}

/** Returns what a start of a model needs. Throws an Error with the end of a sentence. */
async function planOf ({ path }: ModelFile, { settings, home, environment }: Parts): Promise<{ engine: string, window: number }> {
  const engine = findEngine({ configured: settings().engine, home, environment: environment() })
  return { engine, window: await windowThatFits(path, entryOf(settings())?.window) }
}

/** Starts the server of a file. Throws an Error with the end of a sentence. */
async function serve (file: ModelFile, engine: { engine: string, window: number }, signal: AbortSignal, parts: Parts): Promise<ServedFile> {
  const { name, path } = file
  const { environment, settings, needsOf, clock } = parts
  const threads = Math.max(1, Math.min(MOST_THREADS, availableParallelism() - 1))
  const server = await startModelServer({ ...engine, path, name, threads, environment: environment(), clock, signal })
  const provider = createDirectProvider({
    name: LOCAL,
    settings: () => ({ baseURL: server.baseURL, models: [name], timeouts: entryOf(settings())?.timeouts }),
    configuredKey: () => server.key,
    variables: {},
    // Its address is another one at each start.
    needsOf: (id) => needsOf(id, path),
    clock
  })
  return { server, provider }
}

/** Returns a file as lists show it; `window` is that of its server, if one runs. */
async function describeFile (file: ModelFile, window: number | undefined, parts: Parts): Promise<ModelInfo> {
  const { name } = file
  const info = { id: `${LOCAL}/${name}`, name, provider: LOCAL }
  try {
    return { ...info, contextWindow: window ?? (await planOf(file, parts)).window }
  } catch (error) {
    const why = (error as Error).message
    return { ...info, unavailable: `${why[0].toUpperCase()}${why.slice(1)}` }
  }
}

/** Creates the provider whose models are files on this computer, each served by a llama.cpp server of its own while it is used. */
export function createLocalProvider (parts: Parts): LocalProvider {
  const { settings, home, clock } = parts
  const keys = new Set<string>()
  let files: ModelFile[] = []

  const pool = createModelPool({
    clock,
    async start (file, signal) {
      const plan = await planOf(file, parts).catch(async (error) => {
        // Servers that no call uses take the memory that it may need.
        if (await pool.endIdle(file.name)) return planOf(file, parts)
        throw error
      })
      const served = await serve(file, plan, signal, parts)
      keys.add(served.server.key)
      return served
    }
  })

  async function refresh (): Promise<void> {
    const own = await modelFilesBelow(join(home, 'models'), DEPTH)
    const named = (entryOf(settings())?.files ?? []).map((path) => modelFileAt(expandHome(path)))
    files = [...new Map([...own, ...named].map((file) => [file.name, file])).values()]
  }

  async function lease (name: string) {
    if (!files.some((file) => file.name === name)) await refresh()
    const file = files.find((each) => each.name === name)
    const known = files.map((each) => `${LOCAL}/${each.name}`).join(', ')
    if (file === undefined) return refuse(name, new Error(`no file has that name. There is ${known || 'no file yet'}.`))
    try {
      return await pool.lease(file, stampOf(file.path))
    } catch (error) {
      return refuse(name, error)
    }
  }

  const describe = (file: ModelFile) => describeFile(file, pool.served(file.name)?.server.window, parts)
  return {
    name: LOCAL,
    ...{ kind: 'direct', reach: 'machine' },
    hasFiles: () => files.length > 0 || entryOf(settings())?.files !== undefined,
    refresh,
    describe,
    get defaultModel () {
      return `${LOCAL}/${files[0]?.name ?? 'default'}`
    },
    get contextWindow () {
      return entryOf(settings())?.window ?? USUAL_LENGTH
    },
    configured: () => true,
    timeouts: () => entryOf(settings())?.timeouts ?? {},
    // Their engines share the processors of this computer.
    localServer: async () => LOCAL,
    advice: { key: 'its server refuses the key that it was started with.', address: 'whether the file is whole' },
    secrets: () => [...keys],
    languageModel: async (name) => modelOf(name, () => lease(name)),
    listModels: () => refresh().then(() => Promise.all(files.map(describe))),
    async windowInUse (name) {
      const file = files.find((each) => each.name === name)
      return file && (await describe(file)).contextWindow
    },
    needsOf: (name) => pool.served(name)?.provider.needsOf?.(name) ?? NO_NEEDS,
    end: pool.end
  }
}

type Lease = ServedFile & { release: () => void }

/** Returns the model, each of whose calls keeps its server until it has ended. */
function modelOf (name: string, lease: () => Promise<Lease>): LanguageModelV4 {
  return {
    ...{ specificationVersion: 'v4', provider: LOCAL, modelId: name, supportedUrls: {} },
    async doGenerate (options) {
      const { provider, release } = await lease()
      try {
        return await (await provider.languageModel(name)).doGenerate(options)
      } finally {
        release()
      }
    },
    async doStream (options) {
      const { provider, release } = await lease()
      try {
        return withEnd(await (await provider.languageModel(name)).doStream(options), release)
      } catch (error) {
        release()
        throw error
      }
    }
  }
}

/** Returns the answer, and calls `onEnd` once it has ended in whatever way. */
function withEnd (answer: LanguageModelV4StreamResult, onEnd: () => void): BatchedResult {
  const { read, cancel } = batchesOf(answer)
  const batches: PartBatches = {
    async read () {
      try {
        const parts = await read()
        if (parts === undefined) onEnd()
        return parts
      } catch (error) {
        onEnd()
        throw error
      }
    },
    cancel (reason) {
      onEnd()
      cancel(reason)
    }
  }
  return { ...answer, batches, stream: streamOf(batches) }
}
