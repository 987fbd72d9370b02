import type { Socket } from 'node:net'
import Fastify, { LogController, type FastifyBaseLogger, type FastifyError, type FastifyInstance, type FastifyServerOptions } from 'fastify'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { Aborted } from '../../services/lib/abort.ts'
import type { Settings } from '../../settings.ts'
import type { lazyCompilers } from './compilers.ts'
import { answer, answerParserError } from './errors.ts'

/** The default limit of a request body: 1 MiB. The routes of `/run` and `/threads` allow more. */
const DEFAULT_BODY_LIMIT = 1_048_576

/** Time limits for the arrival of a request's headers and body, and the interval of the checks, in milliseconds. Late requests get 408. */
const ARRIVAL = { headers: 15_000, body: 60_000, lookedAfter: 30_000 }

declare module 'fastify' {
  interface FastifyReply {
    /**
     * Aborts when the response has ended, in particular when the client disconnects. Fastify's `request.signal` no longer aborts after the
     * body of the request is read.
     */
    readonly closed: AbortSignal
  }
}

/** The reason of every abort. It is created once, because Node would create an error with a stack trace for each response. */
const ENDED = new Aborted('client', 'The response has ended.')

interface ServerParts {
  logger: FastifyBaseLogger
  compilers: ReturnType<typeof lazyCompilers>
  arrival?: Settings['arrival']
}

/** Creates the HTTP server of one port. All its errors have the same shape. The plugin of its gate adds `admitUnrouted`. */
export function createHttpServer (
  { logger, compilers, arrival = ARRIVAL }: ServerParts,
  options: FastifyServerOptions = {}
): FastifyInstance {
  const server = Fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: DEFAULT_BODY_LIMIT,
    forceCloseConnections: true,
    // Fastify's own answers in these cases are off: the gate and the error handler answer instead, so that every error has the same shape.
    return503OnClosing: false,
    http: { requireHostHeader: false, headersTimeout: arrival.headers, connectionsCheckingInterval: arrival.lookedAfter },
    requestTimeout: arrival.body,
    // Fastify calls this handler with the server instance as `this`.
    clientErrorHandler (error: NodeJS.ErrnoException, socket: Socket) {
      answerParserError(error, socket, (this as unknown as FastifyInstance).uploads)
    },
    // The longest path that fits the header limit: the schemas of the routes limit ids.
    routerOptions: { maxParamLength: 16_384 },
    schemaController: { compilersFactory: compilers },
    frameworkErrors (error, request, reply) {
      const { server } = request
      const refuse = async () => {
        await server.uploads.settle(request.raw, reply.raw)
        try {
          server.admitUnrouted(request, reply)
          answer(error as FastifyError, request, reply)
        } catch (refused) {
          answer(refused as FastifyError, request, reply)
        }
      }
      void refuse()
    },
    ...options
  }).withTypeProvider<TypeBoxTypeProvider>()
  server.decorateReply('closed', {
    getter () {
      const { raw } = this
      const ended = new AbortController()
      const onClose = () => ended.abort(ENDED)
      raw.on('close', onClose)
      raw.on('error', onClose)
      if (raw.destroyed) onClose()
      return ended.signal
    }
  })
  return server as unknown as FastifyInstance
}
