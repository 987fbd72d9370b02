import { timingSafeEqual, createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import cors from '@fastify/cors'
import { createError } from '@fastify/error'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { NotJsonMedia, parseBody } from '../services/gate/body.ts'
import { createGate } from '../services/gate/policy.ts'

const Unauthorized = createError('ERR_UNAUTHORIZED', 'This service needs a token: send Authorization: Bearer <LOCAL_AGENT_TOKEN>.', 401)
const Draining = createError('ERR_DRAINING', 'The service is shutting down; try again after its restart.', 503)

declare module 'fastify' {
  interface FastifyInstance {
    /** Becomes true when shutdown begins; new work is refused from then on. */
    draining: { value: boolean }
    checkCaller: (request: FastifyRequest) => void
  }
}

const digest = (text: string) => createHash('sha256').update(text).digest()

/** Every value of each header. Requests injected by a test have no raw headers: each is there once. */
function everyValue ({ headersDistinct, headers }: IncomingMessage): Partial<Record<string, string[]>> {
  return headersDistinct ?? Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat() as string[]]))
}

/** Decides, before any route, who may call and what a body may be. */
export default fp<{ host: string, token?: string }>(async (app, { host, token }) => {
  const gate = createGate({ host, allowedOrigins: () => app.config.current.allowedOrigins ?? [] })
  const draining = { value: false }
  app.decorate('draining', draining)
  app.decorate('checkCaller', (request: FastifyRequest) => {
    gate.check({ url: request.raw.url!, headers: everyValue(request.raw) })
  })

  app.addHook('onRequest', async (request) => app.checkCaller(request))
  await app.register(cors, {
    origin: (origin, done) => done(null, origin ?? false),
    methods: ['GET', 'POST', 'PUT', 'DELETE'],
    exposedHeaders: ['x-thread-id', 'x-run-id', 'retry-after'],
    maxAge: 600,
    strictPreflight: false
  })
  if (token !== undefined) {
    const expected = digest(`Bearer ${token}`)
    app.addHook('onRequest', async (request, reply) => {
      if (request.method === 'OPTIONS' || request.routeOptions.config.open) return
      const given = everyValue(request.raw).authorization ?? []
      if (given.length === 1 && timingSafeEqual(digest(given[0]), expected)) return
      reply.header('www-authenticate', 'Bearer')
      throw new Unauthorized()
    })
  }
  app.addHook('onRequest', async (request) => {
    if (draining.value && !request.routeOptions.config.open) throw new Draining()
  })

  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_request: FastifyRequest, bytes: Buffer) => parseBody(bytes))
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: FastifyRequest, bytes: Buffer) => {
    if (bytes.length > 0) throw new NotJsonMedia()
  })
}, { name: 'gate', dependencies: ['config'] })
