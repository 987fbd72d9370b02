import type { Socket } from 'node:net'
import Fastify, { LogController, type FastifyError, type FastifyInstance } from 'fastify'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { pino } from 'pino'
import { lazyCompilers } from './plugins/core/compilers.ts'
import { answer, answerParserError } from './plugins/core/errors.ts'
import { registerPlugins } from './plugins/index.ts'
import { registerRoutes } from './routes/index.ts'
import { createSecrets, type Secrets } from './services/lib/secrets.ts'
import type { Settings } from './settings.ts'

/** 1 MiB; `/run` and `/threads` allow more. */
const DEFAULT_BODY_LIMIT = 1_048_576

/** Limits how long a slow client can keep a connection with an incomplete request; late requests get 408. Milliseconds. */
const ARRIVAL = { headers: 15_000, body: 60_000, lookedAfter: 5_000 }

export type App = FastifyInstance

declare module 'fastify' {
  interface FastifyInstance {
    /** All secrets, which are also redacted in logs; plugins add theirs. */
    secrets: Secrets
    /** The compilers of schemas, which compile when a route is first used. */
    compilers: ReturnType<typeof lazyCompilers>
  }
}

/**
 * Builds the whole service without listening. Resolves when its store is open and its plugins are ready. `observe` gets the
 * app before the routes are registered.
 */
export async function buildApp (settings: Settings, observe?: (app: App) => Promise<unknown>): Promise<App> {
  const secrets = createSecrets(settings.token, settings.passphrase, ...Object.values(settings.keys ?? {}))
  const arrival = settings.arrival ?? ARRIVAL
  const compilers = (settings.compilers ?? lazyCompilers)()
  const app = Fastify({
    loggerInstance: pino({
      level: 'info',
      redact: ['req.headers.authorization', 'req.headers["x-export-passphrase"]'],
      hooks: { streamWrite: secrets.redact }
    }, settings.log ?? process.stderr),
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: DEFAULT_BODY_LIMIT,
    // Plugins may start slowly: repairing a store, or verifying a copied one, takes time proportional to its data.
    pluginTimeout: 0,
    forceCloseConnections: true,
    // The gate and the error handler answer these cases, so that every error has the same format.
    return503OnClosing: false,
    http: { requireHostHeader: false, headersTimeout: arrival.headers, connectionsCheckingInterval: arrival.lookedAfter },
    requestTimeout: arrival.body,
    // Fastify calls it as a method of the app.
    clientErrorHandler (error: NodeJS.ErrnoException, socket: Socket) {
      answerParserError(error, socket, (this as unknown as App).uploads)
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
    }
  }).withTypeProvider<TypeBoxTypeProvider>()
  app.decorate('secrets', secrets)
  app.decorate('compilers', compilers)

  try {
    await registerPlugins(app as unknown as App, settings)
    await observe?.(app as unknown as App)
    await registerRoutes(app as unknown as App)
    await app.ready()
  } catch (error) {
    await app.close().catch(() => {})
    throw error
  }
  return app as unknown as App
}
