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
    /** On the port for devices: the route requires the key of a paired device. */
    forDevices?: boolean
  }
  interface FastifyRequest {
    /** On the port for devices: the device whose key came with the request. */
    device: DecidingDevice
  }
}

/** The limit of a request body, in bytes. A pairing has the largest one. */
const MOST_BYTES = 4_096
/** Limits for incomplete requests, in milliseconds. Strangers can reach this port, so the limits are shorter than on the main port. */
const ARRIVAL = { headers: 5_000, body: 10_000, lookedAfter: 2_000 }
/** The maximum number of open connections, over all clients. */
const MOST_CONNECTIONS = 256

/** Headers of every response. The server in front of this port terminates HTTPS and sets HSTS. */
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
  /** The https address of the server in front of this port. */
  address?: string
  routes: FastifyPluginAsync
}

/**
 * Builds the server of the port for devices. It has none of the routes of the main port, and its routes reach only the services that it is
 * decorated with.
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

/** Checks the origin of each request before its route runs, and the key of the device on routes that need one. */
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
    // A link on another site can open this page. The other site cannot read the page or embed it in a frame.
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
