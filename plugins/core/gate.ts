import cors from '@fastify/cors'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { Draining, createGate, createTokenCheck, SHELL_ORIGINS } from '../../services/http/gate.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Becomes true when the shutdown begins; from then on, new work is refused. */
    draining: { value: boolean }
    /** The ports of this service, which no tool and no webhook may call. */
    ownPorts: () => number[]
    /** Runs all checks of the gate for requests that are refused before any hook runs. Throws the errors that the hooks would throw. */
    admitUnrouted: (request: FastifyRequest, reply: FastifyReply) => void
  }
}

/** Checks before every route whether the caller may use the service. */
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
  // Node would answer an expectation other than 100-continue before the gate runs; a server may ignore it (RFC 9110, 10.1.1).
  app.server.on('checkExpectation', (request, response) => {
    app.server.emit('request', request, response)
  })
  // By default, Node silently drops headers beyond a maximum count; their total size is limited to 16 KiB anyway.
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
    // Answers hold what the user said: no browser keeps them, or takes them for something else. Pages and their files say it themselves.
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
    // Before the body is read, because it would not be used.
    if (request.is404) throw app.unrouted(request, reply)
    dropContentTypeWithoutBody(request)
  })
  // Checked again after the body has arrived, which may take long.
  app.addHook('preHandler', refuseWhileDraining)
}, { name: 'gate', dependencies: ['config', 'errors', 'uploads'] })

/**
 * Returns every header value that was sent, by lower-case name: elsewhere Node joins or drops repeated headers. `inject` has
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
