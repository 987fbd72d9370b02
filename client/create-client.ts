import { createClient as create, createConfig, type Client, type Config, type RequestOptions } from './generated/client/index.ts'
import { notTheService, requestError } from './errors.ts'
import { openStream, readJson } from './sse.ts'

export type { Client }

export const DEFAULT_URL = 'http://127.0.0.1:3001'

/**
 * Creates a client of one service to pass to the generated functions: `health({ client })`. `auth` is the token, if there is one.
 * Every failure is an AgentError: thrown with `throwOnError`, else returned as `error`; streams throw it in their reader.
 */
export function createClient (config: Config = {}): Client {
  const { auth } = config
  return withOneError(create(createConfig({ baseUrl: DEFAULT_URL, ...config, ...typeof auth === 'string' && { auth: headerText(auth) } })))
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
      : url.startsWith('/docs') || OWN_TYPES.test(response.headers.get('content-type') ?? '')
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
  if (stream !== undefined) yield * readJson(stream, options.signal)
}
