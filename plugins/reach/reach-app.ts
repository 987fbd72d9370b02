import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { DecidingDevice } from '../../schemas/deciding-device.ts'
import { bearerOf, createGate } from '../../services/http/gate.ts'
import { lazyCompilers } from '../core/compilers.ts'
import { dropContentTypeWithoutBody, headerValues } from '../core/gate.ts'
import errors from '../core/errors.ts'
import { createHttpServer } from '../core/http-server.ts'
import pages from '../core/pages.ts'
import routeTable from '../core/route-table.ts'
import uploads from '../core/uploads.ts'
import clockPlugin from '../core/clock.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The port for devices: the route needs the key of a paired device. */
    forDevices?: boolean
  }
  interface FastifyRequest {
    /** The port for devices: the device whose key came with the request. */
    device: DecidingDevice
  }
}

/** The largest body is that of a pairing, bytes. */
const MOST_BYTES = 4_096
/** Limits for incomplete requests, milliseconds. Strangers can come here, so they are shorter than on the main port. */
const ARRIVAL = { headers: 5_000, body: 10_000, lookedAfter: 2_000 }
/** Connections at once, of all who come. */
const MOST_CONNECTIONS = 256

/** Headers of every answer. The server in front has HTTPS, and sets HSTS. */
const HEADERS = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'"
}
const ADVICE = {
  host: 'Name the https address in front of it as "reach.address" in config.json.',
  origin: 'Only its own page may.'
}

interface ReachOptions {
  host: string
  /** The https address in front of the port. */
  address?: string
  routes: FastifyPluginAsync
}

/**
 * Builds the server of the port for devices. It shares no route with the main port: its routes reach the services that it is decorated
 * with, and no other.
 */
export async function buildReachApp (
  { log, clock, reach }: Pick<FastifyInstance, 'log' | 'clock' | 'reach'>,
  { host, address, routes }: ReachOptions
): Promise<FastifyInstance> {
  const server = createHttpServer({ logger: log, compilers: lazyCompilers(), arrival: ARRIVAL }, {
    bodyLimit: MOST_BYTES,
    keepAliveTimeout: ARRIVAL.body
  })
  server.server.maxConnections = MOST_CONNECTIONS
  await server.register(clockPlugin, { clock })
  server.decorate('reach', reach)
  for (const plugin of [routeTable, errors, uploads, pages]) await server.register(plugin)
  await server.register(gate, { host, address })
  await server.register(routes)
  await server.ready()
  return server
}

/** Checks before every route where a request comes from, and before those that are not for everybody, its key. */
const gate = fp<{ host: string, address?: string }>(async (server, { host, address }) => {
  const front = address === undefined ? undefined : new URL(address)
  const allowed = createGate({
    host,
    names: front === undefined ? [] : [front.hostname],
    allowedOrigins: () => front === undefined ? [] : [front.origin],
    advice: ADVICE
  })
  const checkCaller = ({ raw }: FastifyRequest, isPage = false) => {
    const headers = headerValues(raw.rawHeaders)
    // A link on another page may open this one. It can read nothing of it, and show nothing around it.
    if (isPage && headers['sec-fetch-mode']?.join() === 'navigate') delete headers['sec-fetch-site']
    allowed.check({ url: raw.url!, headers })
  }
  server.server.on('checkExpectation', (request, response) => {
    server.server.emit('request', request, response)
  })
  server.server.maxHeadersCount = 0
  server.decorate('admitUnrouted', (request: FastifyRequest) => {
    checkCaller(request)
  })
  server.decorateRequest('device', null as never)
  server.addHook('onRequest', async (request, reply) => {
    reply.headers(HEADERS)
    const { forDevices, open } = request.routeOptions.config ?? {}
    checkCaller(request, open === true)
    if (request.is404) throw server.unrouted(request, reply)
    if (forDevices) request.device = await server.reach.devices.require(bearerOf(headerValues(request.raw.rawHeaders).authorization ?? []))
    dropContentTypeWithoutBody(request)
  })
}, { name: 'reach-gate', dependencies: ['errors', 'uploads'] })
