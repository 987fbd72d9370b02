import type { Socket } from 'node:net'
import Fastify, { LogController, type FastifyBaseLogger, type FastifyError, type FastifyInstance, type FastifyServerOptions } from 'fastify'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { Aborted } from '../../services/lib/abort.ts'
import type { Settings } from '../../settings.ts'
import type { lazyCompilers } from './compilers.ts'
import { answer, answerParserError } from './errors.ts'

/** 1 MiB; `/run` and `/threads` allow more. */
const DEFAULT_BODY_LIMIT = 1_048_576

/** Limits how long a slow client can keep a connection with an incomplete request; late requests get 408. Milliseconds. */
const ARRIVAL = { headers: 15_000, body: 60_000, lookedAfter: 30_000 }

declare module 'fastify' {
  interface FastifyReply {
    /**
     * Aborts when the response has ended, in particular when the client disconnects. A request's own `signal` does not abort
     * once its body is read.
     */
    readonly closed: AbortSignal
  }
}

/** Made once: Node would make an error with a stack trace for each response. */
const ENDED = new Aborted('client', 'The response has ended.')

interface ServerParts {
  logger: FastifyBaseLogger
  compilers: ReturnType<typeof lazyCompilers>
  arrival?: Settings['arrival']
}

/** Creates the server of one port, which answers every error in one shape. Its gate decorates it with `admitUnrouted`. */
export function createHttpServer (
  { logger, compilers, arrival = ARRIVAL }: ServerParts,
  options: FastifyServerOptions = {}
): FastifyInstance {
  const server = Fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: DEFAULT_BODY_LIMIT,
    forceCloseConnections: true,
    // The gate and the error handler answer these cases, so that every error has the same format.
    return503OnClosing: false,
    http: { requireHostHeader: false, headersTimeout: arrival.headers, connectionsCheckingInterval: arrival.lookedAfter },
    requestTimeout: arrival.body,
    // Fastify calls it as a method of the app.
    clientErrorHandler (error: NodeJS.ErrnoException, socket: Socket) {
      answerParserError(error, socket, (this as unknown as FastifyInstance).uploads)
    },
    // As long as a path can be; the routes' schemas limit ids.
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
