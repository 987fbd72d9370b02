import cors from '@fastify/cors'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { Draining, createGate, createTokenCheck, SHELL_ORIGINS } from '../../services/http/gate.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Becomes true when the shutdown begins; from then on, new work is refused. */
    draining: { value: boolean }
    /** The ports of this service, which no tool and no webhook is allowed to call. */
    ownPorts: () => number[]
    /** Runs all checks of the gate for requests that are refused before any hook runs. Throws the errors that the hooks would throw. */
    admitUnrouted: (request: FastifyRequest, reply: FastifyReply) => void
  }
}

/** Checks before every route whether the caller is allowed to use the service. */
export default fp<{ host: string, token?: string }>(async (app, { host, token }) => {
  const gate = createGate({ host, allowedOrigins: () => [...SHELL_ORIGINS, ...app.config.current.allowedOrigins ?? []] })
  const checkToken = token === undefined ? undefined : createTokenCheck(token)
  const draining = { value: false }
  app.decorate('draining', draining)
  app.decorate('ownPorts', () =>
    [...app.addresses().flatMap((address) => typeof address === 'string' ? [] : [address.port]), ...app.reachPort.ports()])
  app.addHook('preClose', async () => {
    draining.value = true
  })
  // For an `Expect` header other than 100-continue, Node would answer by itself before the gate runs. A server is allowed to ignore such a
  // header (RFC 9110, 10.1.1).
  app.server.on('checkExpectation', (request, response) => {
    app.server.emit('request', request, response)
  })
  // By default, Node silently drops headers beyond a maximum count. Here only their total size is limited, to 16 KiB.
  app.server.maxHeadersCount = 0

  const checkCaller = ({ raw }: FastifyRequest) => gate.check({ url: raw.url!, headers: headerValues(raw.rawHeaders) })
  const authorize = ({ raw }: FastifyRequest) => checkToken?.(headerValues(raw.rawHeaders).authorization ?? [])

  const refuseWhileDraining = async ({ routeOptions: { config } }: FastifyRequest) => {
    if (draining.value && !config?.whileDraining) throw new Draining()
  }

  app.decorate('admitUnrouted', (request: FastifyRequest, reply: FastifyReply) => {
    const origin = checkCaller(request)
    reply.header('vary', 'Origin')
    if (origin !== undefined) reply.header('access-control-allow-origin', origin)
    authorize(request)
    if (draining.value) throw new Draining()
  })

  app.addHook('onRequest', async (request, reply) => {
    // Responses hold data of the user, so browsers must not cache them or guess another media type. Pages and their files set their own
    // headers.
    reply.header('x-content-type-options', 'nosniff').header('cache-control', 'no-store')
    checkCaller(request)
  })
  await app.register(cors, {
    origin: (origin, done) => done(null, origin ?? false),
    methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: ['x-thread-id', 'x-run-id', 'retry-after'],
    maxAge: 600,
    strictPreflight: false
  })
  app.addHook('onRequest', async (request, reply) => {
    const { open } = request.routeOptions.config ?? {}
    const isOpen = typeof open === 'function' ? open(request) : open
    if (!isOpen && request.method !== 'OPTIONS') authorize(request)
    await refuseWhileDraining(request)
    // Refused here already, because the body of an unrouted request is never used.
    if (request.is404) throw app.unrouted(request, reply)
    dropContentTypeWithoutBody(request)
  })
  // Checked a second time after the body has arrived, because an upload can outlast the start of the shutdown.
  app.addHook('preHandler', refuseWhileDraining)
}, { name: 'gate', dependencies: ['config', 'errors', 'uploads'] })

/**
 * Returns all values of each header, by lower-case name. `request.headers` joins or drops repeated headers, and requests of `inject` have
 * no `headersDistinct`.
 */
export function headerValues (rawHeaders: string[]): Partial<Record<string, string[]>> {
  const headers: Record<string, string[]> = Object.create(null)
  for (let at = 0; at < rawHeaders.length; at += 2) (headers[rawHeaders[at].toLowerCase()] ??= []).push(rawHeaders[at + 1])
  return headers
}

/** Removes the content type of a request without a body, because Fastify would otherwise refuse a malformed type first. */
export function dropContentTypeWithoutBody ({ raw: { headers } }: FastifyRequest) {
  if (headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0) delete headers['content-type']
}
