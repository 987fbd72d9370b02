import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { lazyCompilers } from './plugins/core/compilers.ts'
import { createHttpServer } from './plugins/core/http-server.ts'
import { registerPlugins } from './plugins/index.ts'
import { registerRoutes } from './routes/index.ts'
import { createSecrets, type Secrets } from './services/lib/secrets.ts'
import type { Settings } from './settings.ts'

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
  const compilers = (settings.compilers ?? lazyCompilers)()
  const logger = pino({
    level: 'info',
    redact: ['req.headers.authorization', 'req.headers["x-export-passphrase"]'],
    hooks: { streamWrite: secrets.redact }
  }, settings.log ?? process.stderr)
  // Plugins may start slowly: repairing a store, or verifying a copied one, takes time proportional to its data.
  const app = createHttpServer({ logger, compilers, arrival: settings.arrival }, { pluginTimeout: 0 })
  app.decorate('secrets', secrets)
  app.decorate('compilers', compilers)

  try {
    await registerPlugins(app, settings)
    await observe?.(app)
    await registerRoutes(app)
    await app.ready()
  } catch (error) {
    await app.close().catch(() => {})
    throw error
  }
  return app
}
