import { createClient as create, createConfig, type Client, type Config, type RequestOptions } from './generated/client/index.ts'
import { AgentError, notTheService, requestError } from './errors.ts'
import { openStream, readJson } from './sse.ts'

export type { Client }

export const DEFAULT_URL = 'http://127.0.0.1:3001'

/** The address of a service, or a function that returns it: it is called before each request, so that a new address is followed. */
export type Address = string | (() => string | Promise<string>)

/**
 * Creates a client of one service to pass to the generated functions: `health({ client })`. `auth` is the token, if there is one.
 * Every failure is an AgentError: thrown with `throwOnError`, else returned as `error`; streams throw it in their reader.
 */
export function createClient ({ baseUrl = DEFAULT_URL, ...config }: Omit<Config, 'baseUrl'> & { baseUrl?: Address } = {}): Client {
  const { auth } = config
  const found = { ...config, ...typeof auth === 'string' && { auth: headerText(auth) } }
  if (typeof baseUrl === 'string') return withOneError(create(createConfig({ ...found, baseUrl })))
  // The one step of a request that may wait and comes before its address is made; nothing else is validated.
  const requestValidator = async (request: unknown) => {
    const options = request as { baseUrl?: string, signal?: AbortSignal | null }
    options.baseUrl = await currentAddress(baseUrl, options.signal)
    client.setConfig({ baseUrl: options.baseUrl })
  }
  const client = withOneError(create(createConfig({ ...found, requestValidator })))
  return client
}

/** Asks for the address, until the signal aborts. Throws ERR_UNREACHABLE when it cannot be had. */
async function currentAddress (address: () => string | Promise<string>, signal?: AbortSignal | null): Promise<string> {
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal!.reason)
  signal?.throwIfAborted()
  signal?.addEventListener('abort', abort)
  try {
    return await Promise.race([address(), aborted.promise])
  } catch (error) {
    signal?.throwIfAborted()
    const reason = error instanceof Error ? error.message : String(error)
    throw new AgentError(`The address of the service cannot be had: ${reason}`, { code: 'ERR_UNREACHABLE', cause: error })
  } finally {
    signal?.removeEventListener('abort', abort)
  }
}

/** Returns a token as a header holds it: characters outside of ASCII as the bytes of their UTF-8, which the service reads. */
export const headerText = (token: string): string => String.fromCharCode(...new TextEncoder().encode(token))

/** The one path whose answer may be 204, without a content. */
const MAY_BE_EMPTY = /^\/run\/[^/]+\/stream$/
/** What the service answers with, apart from the pages under /docs. A proxy, or a server of somebody else, answers with its own pages. */
const OWN_TYPES = /^(application\/(json|octet-stream|x-ndjson)|text\/event-stream)\b/

/**
 * Makes all failures of a client AgentErrors. The generated readers of streams would repeat a request that failed, which could
 * start a second run, and would drop the service's sentence: they are replaced.
 */
export function withOneError (client: Client): Client {
  client.interceptors.error.use((error, response, _request, options) =>
    options?.signal?.aborted ? options.signal.reason : requestError(client.getConfig().baseUrl ?? '', error, response))
  client.interceptors.response.use(async (response, _request, { url }) => {
    const isOwn = response.status === 204
      ? MAY_BE_EMPTY.test(url)
      : url.startsWith('/docs') || url.startsWith('/attachments/') || OWN_TYPES.test(response.headers.get('content-type') ?? '')
    if (isOwn || !response.ok) return response
    await response.body?.cancel()
    throw notTheService(client.getConfig().baseUrl ?? '', response)
  })
  const streamWith = (method: 'GET' | 'POST') => async (options: RequestOptions) => ({ stream: streamed(client, { ...options, method }) })
  Object.assign(client.sse, { get: streamWith('GET'), post: streamWith('POST') })
  return client
}

async function * streamed (client: Client, options: RequestOptions & { method: 'GET' | 'POST' }) {
  const stream = await openStream(client, options)
  if (stream === undefined) return
  for await (const { event } of readJson(stream, options.signal)) yield event
}
