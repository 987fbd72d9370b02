import type { IncomingMessage, ServerResponse } from 'node:http'
import fp from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyInstance {
    /** The ids that a response names, for its line in the log. The log lines of runs, steps and calls carry the same ids. */
    answeredFor: WeakMap<ServerResponse, LoggedIds>
  }
}

interface LoggedIds {
  runId?: string
  threadId?: string
  taskId?: string
}

/** Supervisors poll these paths, so their requests are logged at level `debug`. */
const POLLED = new Set(['/health', '/ready'])
const MAX_PATH = 200
const IDS = ['runId', 'threadId', 'taskId'] as const

/**
 * Logs every request when its response has ended or was cut off: method, path without its query, status, time in milliseconds, and the ids
 * of the run, conversation and task that the response names. Headers and bodies are not logged.
 */
export default fp(async (app) => {
  const { clock, log } = app
  const answeredFor = new WeakMap<ServerResponse, LoggedIds>()
  app.decorate('answeredFor', answeredFor)
  app.addHook('preSerialization', async (_request, reply, payload) => {
    answeredFor.set(reply.raw, idsIn(payload))
    return payload
  })
  app.server.prependListener('request', ({ method, url }: IncomingMessage, response: ServerResponse) => {
    const begun = clock.monotonic()
    response.once('close', () => {
      const path = url!.split('?', 1)[0].slice(0, MAX_PATH)
      log[POLLED.has(path) ? 'debug' : 'info']({
        method,
        path,
        status: response.statusCode,
        ms: Math.round(clock.monotonic() - begun),
        ...answeredFor.get(response),
        ...(!response.writableFinished && { cut: true })
      }, 'request')
    })
  })
}, { name: 'request-log', dependencies: ['clock'] })

/** Returns the ids that are top-level fields of a response. */
function idsIn (payload: unknown): LoggedIds {
  if (typeof payload !== 'object' || payload === null) return {}
  const ids = IDS.map((name): [string, unknown] => [name, Reflect.get(payload, name)])
  return Object.fromEntries(ids.filter(([, id]) => typeof id === 'string'))
}
