import { createClient as create, createConfig, type Client, type Config, type RequestOptions } from './generated/client/index.ts'
import { AgentError, notTheService, requestError } from './errors.ts'
import { openStream, readJson } from './sse.ts'

export type { Client }

export const DEFAULT_URL = 'http://127.0.0.1:3001'

/**
 * The address of a service, or a function that returns it. The function is called before each request, so that a new address is followed.
 */
export type Address = string | (() => string | Promise<string>)

/**
 * Creates a client for the generated functions: `health({ client })`. `auth` is the token, if the service has one. Every failure is an
 * AgentError: it is thrown with `throwOnError`, and otherwise returned as `error`. Streams throw it to their reader.
 */
export function createClient ({ baseUrl = DEFAULT_URL, ...config }: Omit<Config, 'baseUrl'> & { baseUrl?: Address } = {}): Client {
  const { auth } = config
  const found = { ...config, ...typeof auth === 'string' && { auth: headerText(auth) } }
  if (typeof baseUrl === 'string') return withOneError(create(createConfig({ ...found, baseUrl })))
  // The validator is the only asynchronous hook of a request that runs before the URL is built. It validates nothing.
  const requestValidator = async (request: unknown) => {
    const options = request as { baseUrl?: string, signal?: AbortSignal | null }
    options.baseUrl = await currentAddress(baseUrl, options.signal)
    client.setConfig({ baseUrl: options.baseUrl })
  }
  const client = withOneError(create(createConfig({ ...found, requestValidator })))
  return client
}

/** Calls the function for the address. Throws ERR_UNREACHABLE if the function fails, and the signal's reason after an abort. */
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
    throw new AgentError(`The address of the service cannot be found: ${reason}`, { code: 'ERR_UNREACHABLE', cause: error })
  } finally {
    signal?.removeEventListener('abort', abort)
  }
}

/** Encodes a token for a header: the UTF-8 bytes of its characters, one Latin-1 character per byte, as the service decodes it. */
export const headerText = (token: string): string => String.fromCharCode(...new TextEncoder().encode(token))

/** The only path whose response can be 204 without content. */
const MAY_BE_EMPTY = /^\/run\/[^/]+\/stream$/
/**
 * Content types of the service's responses, except for the pages under /docs. Another content type comes from a proxy or from another
 * server.
 */
const OWN_TYPES = /^(application\/(json|octet-stream|x-ndjson)|text\/event-stream)\b/

/**
 * Makes every failure of a client an AgentError. Replaces the generated stream readers: they would repeat a failed request, which could
 * start a second run, and would lose the service's error message.
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
