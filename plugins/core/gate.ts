import cors from '@fastify/cors'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { Draining } from '../../services/http/draining.ts'
import { createGate } from '../../services/http/gate.ts'
import { createTokenCheck } from '../../services/http/token.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Becomes true when shutdown begins; new work is refused from then on. */
    draining: { value: boolean }
    /** The whole gate, for requests that are refused before any hook runs. Throws what a hook would. */
    admitUnrouted: (request: FastifyRequest, reply: FastifyReply) => void
  }
}

/** Decides, before any route, who may call. */
export default fp<{ host: string, token?: string }>(async (app, { host, token }) => {
  const gate = createGate({ host, allowedOrigins: () => app.config.current.allowedOrigins ?? [] })
  const checkToken = token === undefined ? undefined : createTokenCheck(token)
  const draining = { value: false }
  app.decorate('draining', draining)
  app.addHook('preClose', async () => {
    draining.value = true
  })
  // An expectation beside 100-continue would be answered by Node, before the gate; it may as well be ignored (RFC 9110, 10.1.1).
  app.server.on('checkExpectation', (request, response) => {
    app.server.emit('request', request, response)
  })
  // Headers beyond a number are dropped unseen otherwise; all of them together are 16 KiB at most.
  app.server.maxHeadersCount = 0

  const checkCaller = ({ raw }: FastifyRequest) => gate.check({ url: raw.url!, headers: distinct(raw.rawHeaders) })
  const authorize = ({ raw }: FastifyRequest) => checkToken?.(distinct(raw.rawHeaders).authorization ?? [])

  const refuseLate = async ({ routeOptions: { config } }: FastifyRequest) => {
    if (draining.value && !config?.whileDraining) throw new Draining()
  }

  app.decorate('admitUnrouted', (request: FastifyRequest, reply: FastifyReply) => {
    const origin = checkCaller(request)
    reply.header('vary', 'Origin')
    if (origin !== undefined) reply.header('access-control-allow-origin', origin)
    authorize(request)
    if (draining.value) throw new Draining()
  })

  app.addHook('onRequest', async (request) => {
    checkCaller(request)
  })
  await app.register(cors, {
    origin: (origin, done) => done(null, origin ?? false),
    methods: ['GET', 'POST', 'PUT', 'DELETE'],
    exposedHeaders: ['x-thread-id', 'x-run-id', 'retry-after'],
    maxAge: 600,
    strictPreflight: false
  })
  app.addHook('onRequest', async (request, reply) => {
    if (!request.routeOptions.config?.open && request.method !== 'OPTIONS') authorize(request)
    await refuseLate(request)
    // Before its body is read: nothing would be done with that.
    if (request.is404) throw app.unrouted(request, reply)
    withoutBody(request)
  })
  // Again when the body is there: it may have been long in coming.
  app.addHook('preHandler', refuseLate)
}, { name: 'gate', dependencies: ['config', 'errors', 'uploads'] })

/** Every value that was sent, by lower-case name: Node joins or drops doubled headers elsewhere. `inject` has no `headersDistinct`. */
function distinct (rawHeaders: string[]): Partial<Record<string, string[]>> {
  const headers: Record<string, string[]> = Object.create(null)
  for (let at = 0; at < rawHeaders.length; at += 2) (headers[rawHeaders[at].toLowerCase()] ??= []).push(rawHeaders[at + 1])
  return headers
}

/** No body is no body, whatever type it is said to have: Fastify would refuse a malformed type first. */
function withoutBody ({ raw: { headers } }: FastifyRequest) {
  if (headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0) delete headers['content-type']
}
