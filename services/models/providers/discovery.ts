import { once } from 'node:events'
import { Agent, get } from 'node:http'
import type { Config } from '../../../schemas/config.ts'
import type { LocalServer } from '../../../schemas/providers.ts'
import type { Clock } from '../../lib/clock.ts'
import { withDeadline } from '../../lib/deadline.ts'
import { readAtMost } from '../../lib/line-reader.ts'
import { readModelList } from './kinds/model-list.ts'

/** The most bytes of an answer. */
const LONGEST_ANSWER = 1024 * 1024

/**
 * Reads a JSON document from a server on this machine: never through a proxy, and without following redirects. Rejects for an answer that
 * is not JSON, is longer than 1 MiB or has another status than 200, and if the signal aborts.
 */
export async function getLocalJson (url: string, signal: AbortSignal): Promise<any> {
  // NODE_USE_ENV_PROXY can set up the global agent for a proxy; it never affects an agent of one's own.
  const request = get(url, { agent: new Agent({ keepAlive: false }), signal, headers: { accept: 'application/json' } })
  const [response] = await once(request, 'response')
  // From here on the response reports errors.
  request.on('error', () => {})
  const { bytes, isCut } = await readAtMost(response, LONGEST_ANSWER)
  if (response.statusCode !== 200 || isCut) throw new Error(isCut ? 'the answer is too long' : `status ${response.statusCode}`)
  return JSON.parse(bytes.toString())
}

/** The usual ports of the model servers whose wire format the service knows: Ollama, LM Studio and llama.cpp. */
const PORTS = [11434, 1234, 8080]
/** How long a server may take to answer, in milliseconds. */
const LIMIT_MS = 1_500
/** The most models of one server that are reported. */
const MAX_MODELS = 100

type Body = Record<string, any> | undefined

/**
 * The programs that are recognised, each by an answer that no other program gives. `models` returns the models in the answer, without
 * models that cannot hold a conversation; undefined if the answer is not the program's.
 * https://github.com/ollama/ollama/blob/main/docs/api.md#list-local-models, https://lmstudio.ai/docs/developer/rest/endpoints,
 * https://github.com/ggml-org/llama.cpp/tree/master/tools/server#get-props-get-server-global-properties
 */
const PROGRAMS: Array<{ name: string, title: string, path: string, models(body: Body): unknown[] | undefined }> = [
  {
    name: 'ollama',
    title: 'Ollama',
    path: '/api/tags',
    models: (body) => listOf(body?.models)?.flatMap(({ name, details }) => /bert|embed/i.test(`${details?.family} ${name}`) ? [] : [name])
  },
  {
    name: 'lmstudio',
    title: 'LM Studio',
    path: '/api/v0/models',
    models: (body) => listOf(body?.data)?.flatMap(({ id, type }) => type === 'embeddings' ? [] : [id])
  },
  {
    name: 'llamacpp',
    title: 'llama.cpp',
    path: '/props',
    models: (body) => typeof body?.default_generation_settings === 'object' ? [] : undefined
  }
]

/**
 * Returns the program that a server's answers identify, with the models that it lists as `own`; undefined for an unknown program. `get`
 * requests a path of the server.
 */
export async function recognizeProgram (get: (path: string) => Promise<Body>) {
  const answers = await Promise.all(PROGRAMS.map(({ path }) => get(path)))
  return PROGRAMS.map((program, index) => ({ ...program, own: program.models(answers[index]) })).find(({ own }) => own !== undefined)
}

interface Parts {
  settings: () => Pick<Config, 'discovery' | 'providers'>
  /** Names of providers that exist without an entry in config.json. */
  taken: readonly string[]
  clock: Clock
}

/** Creates the search for model servers that run on this machine. */
export function createDiscovery ({ settings, taken, clock }: Parts) {
  /** Returns the model server at a port; undefined if there is none. */
  async function look (port: number, signal: AbortSignal): Promise<LocalServer | undefined> {
    const url = `http://127.0.0.1:${port}`
    const get = (path: string): Promise<Body> => getLocalJson(`${url}${path}`, signal).catch(() => undefined)
    const [list, found] = await Promise.all([get('/v1/models'), recognizeProgram(get)])
    const served = modelsServed(list)
    if (served === undefined) return undefined
    const models = (found?.own?.length ? found.own : served).filter(isModelName).slice(0, MAX_MODELS)
    const baseURL = `${url}/v1`
    const entries = Object.entries(settings().providers ?? {})
    const provider = entries.find(([, entry]) => entry.baseURL !== undefined && isSamePlace(entry.baseURL, baseURL))?.[0]
    const title = found?.title ?? 'A model server'
    if (provider !== undefined) return { server: title, baseURL, models, provider, use: useOf(title, provider, models) }
    const name = freeName(found?.name ?? 'local', [...entries.map(([each]) => each), ...taken])
    const snippet = { providers: { [name]: { baseURL } }, ...models[0] !== undefined && { model: `${name}/${models[0]}` } }
    return {
      server: title,
      baseURL,
      models,
      config: snippet,
      use: `${title} runs at ${url}. Merge "config" into config.json and POST /config/reload to use it.`
    }
  }

  return {
    /**
     * Looks for model servers at the configured ports of 127.0.0.1; without configuration, at their usual ports. A port whose program does
     * not answer in time, or is no model server, is left out.
     */
    async find (signal: AbortSignal): Promise<LocalServer[]> {
      const ports = [...new Set(settings().discovery?.ports ?? PORTS)]
      const found = await Promise.all(ports.map((port) =>
        withDeadline({ clock, ms: LIMIT_MS, signal }, (deadline) => look(port, deadline)).catch(() => undefined)
      ))
      signal.throwIfAborted()
      return found.filter((server) => server !== undefined)
    }
  }
}

const listOf = (value: unknown): Array<Record<string, any>> | undefined =>
  Array.isArray(value) ? value.filter((entry) => typeof entry === 'object' && entry !== null) : undefined

const isModelName = (name: unknown): name is string => typeof name === 'string' && /^\S{1,100}$/.test(name)

function modelsServed (list: Body): string[] | undefined {
  try {
    return readModelList(JSON.stringify(list ?? {}), 'x').map(({ id }) => id.slice(2))
  } catch {
    return undefined
  }
}

function isSamePlace (one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => new URL(text))
  const local = ['127.0.0.1', 'localhost', '[::1]']
  return a.port === b.port && local.includes(a.hostname) && local.includes(b.hostname)
}

const useOf = (title: string, provider: string, models: string[]) =>
  `${title} is the provider "${provider}" of config.json. ${
    models[0] === undefined ? 'It has no model yet.' : `POST /providers/configure with {"model": "${provider}/${models[0]}"} to use it.`
  }`

const freeName = (name: string, taken: string[]): string =>
  [name, ...taken.map((_, index) => `${name}${index + 2}`)].find((candidate) => !taken.includes(candidate))!
