import type { Need } from '../request/request-needs.ts'
import { isObject } from '../../lib/json.ts'

interface Server {
  /** Without a slash at its end. */
  baseURL: string
  model: string
  fetch: typeof globalThis.fetch
  apiKey?: string
  signal: AbortSignal
}

const BUSY = 503

/**
 * Sends a GET request to the server, or a POST request with `body`. Returns the JSON object in the answer; {} for any other answer. Rejects
 * if the server is busy, for example while a model loads.
 */
async function ask ({ baseURL, fetch, apiKey, signal }: Server, path: string, body?: object): Promise<Record<string, any>> {
  const response = await fetch(new URL(path, baseURL), {
    signal,
    headers: {
      accept: 'application/json',
      ...apiKey !== undefined && { authorization: `Bearer ${apiKey}` },
      ...body && { 'content-type': 'application/json' }
    },
    ...body && { method: 'POST', body: JSON.stringify(body) }
  })
  if (!response.ok) {
    await response.body?.cancel()
    if (response.status === BUSY) throw new Error('the server is busy')
    return {}
  }
  const value: unknown = await response.json()
  return isObject(value) ? value : {}
}

/** True if the server is a known program for serving models on the user's own computer. Rejects if nothing answers. */
export async function isLocalProgram (server: Omit<Server, 'model'>): Promise<boolean> {
  const { recognizeProgram } = await import('./discovery.ts')
  return await recognizeProgram((path) => ask({ ...server, model: '' }, path)) !== undefined
}

const askProps = (server: Server) => ask(server, `/props?model=${encodeURIComponent(server.model)}`)

/** The facts that a server states about a model. */
export interface ServedModel {
  needs: Need[]
  /** True if the server says that the model sees pictures. */
  hasVision: boolean
}

/**
 * Asks a model server about the needs of a model (its requirements for the form of a request) and its chat template: llama.cpp by `GET
 * /props`, Ollama by `POST /api/show`. Returns undefined for a server that does not state them, like most servers.
 * https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md, https://docs.ollama.com/api/show
 */
export async function askServedModel (server: Server): Promise<ServedModel | undefined> {
  const { chat_template_caps: caps, modalities } = await askProps(server)
  if (isObject(caps)) {
    const vision = isObject(modalities) ? modalities.vision : undefined
    return { needs: [...needsIn(caps), ...vision === false ? ['no-pictures' as const] : []], hasVision: vision === true }
  }
  if (typeof (await ask(server, '/api/version')).version !== 'string') return undefined
  const { capabilities } = await ask(server, '/api/show', { model: server.model })
  if (!Array.isArray(capabilities)) return undefined
  const hasVision = capabilities.includes('vision')
  return { needs: capabilities.includes('tools') ? [] : ['tools-in-words'], hasVision }
}

/**
 * Asks a model server for the context window, in tokens, that it uses for a model. Returns undefined if the server does not state the
 * window; llama.cpp, Ollama and LM Studio do. https://lmstudio.ai/docs/developer/rest/endpoints
 */
export async function askWindow (server: Server): Promise<number | undefined> {
  const nothing = (): Record<string, any> => ({})
  const [{ default_generation_settings: settings }, { models }, { data }] = await Promise.all([
    askProps(server).catch(nothing),
    ask(server, '/api/ps').catch(nothing),
    ask(server, '/api/v0/models').catch(nothing)
  ])
  const names = [server.model, `${server.model}:latest`]
  const running = Array.isArray(models) ? models.find((each) => names.includes(each?.name) || names.includes(each?.model)) : undefined
  const loaded = Array.isArray(data) ? data.find((each) => each?.id === server.model) : undefined
  const lengths = [settings?.n_ctx, running?.context_length, loaded?.loaded_context_length]
  return lengths.find((length) => typeof length === 'number' && length > 0)
}

/** Reads the capabilities that llama.cpp has detected in a template: common/jinja/caps.cpp. */
function needsIn (caps: Record<string, unknown>): Need[] {
  const lacks = (name: string) => caps[name] === false
  return [
    ...lacks('supports_tools') || lacks('supports_tool_calls') ? ['tools-in-words' as const] : [],
    ...lacks('supports_parallel_tool_calls') ? ['one-call' as const] : [],
    ...lacks('supports_system_role') ? ['no-system' as const] : []
  ]
}
