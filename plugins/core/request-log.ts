import type { IncomingMessage, ServerResponse } from 'node:http'
import fp from 'fastify-plugin'

/** Supervisors ask for these all the time. */
const POLLED = new Set(['/health', '/ready'])
const MAX_PATH = 200

/**
 * Logs every request when its answer has ended, or was cut off: method, path without its query, status, and time in milliseconds.
 * Neither headers nor bodies are logged.
 */
export default fp(async (app) => {
  const { clock, log } = app
  app.server.prependListener('request', ({ method, url }: IncomingMessage, response: ServerResponse) => {
    const begun = clock.monotonic()
    response.once('close', () => {
      const path = url!.split('?', 1)[0].slice(0, MAX_PATH)
      log[POLLED.has(path) ? 'debug' : 'info']({
        method,
        path,
        status: response.statusCode,
        ms: Math.round(clock.monotonic() - begun),
        ...(!response.writableFinished && { cut: true })
      }, 'request')
    })
  })
}, { name: 'request-log', dependencies: ['clock'] })
