import type { Socket } from 'node:net'
import Fastify, { LogController, type FastifyError, type FastifyInstance } from 'fastify'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { pino, type DestinationStream } from 'pino'
import { lazyCompilers } from './plugins/core/compilers.ts'
import { answer, answerParserError } from './plugins/core/errors.ts'
import { registerPlugins } from './plugins/index.ts'
import { registerRoutes } from './routes/index.ts'
import { createSecrets, redacted, type Secrets } from './services/lib/secrets.ts'
import type { LockOptions } from './services/store/directory-lock.ts'

/** What the environment, the command line and standard input decide. An absent value means the default. */
export interface Settings extends LockOptions {
  /** `{config_dir}`: configuration, key and data. */
  home: string
  host: string
  /** Every request needs it as a bearer token. */
  token?: string
  /** Encrypts the store instead of the key file. */
  passphrase?: string
  gatewayKey?: string
  gatewayBaseURL?: string
  /** Keys of direct providers by their names. Not used yet: kept secret, no more. */
  keys?: Record<string, string>
  /** Where tools work when neither the request nor config.json names a folder. */
  cwd: string
  /** How long a request may take to arrive, milliseconds. */
  arrival?: typeof ARRIVAL
  /** All data and the configuration were replaced: the service must be closed and built anew. */
  replaced?: () => void
  /** What compiles the routes' schemas, for those who want to watch. */
  compilers?: typeof lazyCompilers
  /** Where log lines go; it must not block. process.stderr by default. */
  log?: DestinationStream
}

/** 1 MiB; `/run` allows more. */
const BODY_LIMIT = 1_048_576

/** Who sends a byte now and then keeps a connection no longer than this; what is late is answered with 408. */
const ARRIVAL = { headers: 15_000, body: 60_000, lookedAfter: 5_000 }

export type App = FastifyInstance

declare module 'fastify' {
  interface FastifyInstance {
    /** What must stay secret, in logs too; whoever holds more adds it. */
    secrets: Secrets
  }
}

/**
 * The whole service, not yet listening: its store is open and its managers are up once this resolves. `observe` gets
 * it before its routes do, to see them registered.
 */
export async function buildApp (settings: Settings, observe?: (app: App) => Promise<unknown>): Promise<App> {
  const secrets = createSecrets(settings.token, settings.passphrase, ...Object.values(settings.keys ?? {}))
  const arrival = settings.arrival ?? ARRIVAL
  const app = Fastify({
    loggerInstance: pino({
      level: 'info',
      redact: ['req.headers.authorization', 'req.headers["x-export-passphrase"]'],
      hooks: { streamWrite: (line) => redacted(line, secrets.all()) }
    }, settings.log ?? process.stderr),
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT,
    // A store that is repaired, or was copied here and is compared with its list, takes as long as it has data.
    pluginTimeout: 0,
    forceCloseConnections: true,
    // The gate and the error handler speak for these, so that every refusal has the one shape.
    return503OnClosing: false,
    http: { requireHostHeader: false, headersTimeout: arrival.headers, connectionsCheckingInterval: arrival.lookedAfter },
    requestTimeout: arrival.body,
    // Fastify calls it as a method of the app.
    clientErrorHandler (error: NodeJS.ErrnoException, socket: Socket) {
      answerParserError(error, socket, (this as unknown as App).uploads)
    },
    // As long as a path can be: the routes' schemas say what an id is.
    routerOptions: { maxParamLength: 16_384 },
    schemaController: { compilersFactory: (settings.compilers ?? lazyCompilers)() },
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
      refuse()
    }
  }).withTypeProvider<TypeBoxTypeProvider>()
  app.decorate('secrets', secrets)

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
