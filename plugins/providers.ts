import fp from 'fastify-plugin'
import { createProviders, type Providers } from '../services/providers/providers.ts'

declare module 'fastify' {
  interface FastifyInstance {
    providers: Providers
    /** Every secret the service holds: none may reach a child, a log or an answer. */
    secrets: () => string[]
  }
}

interface Environment { gatewayKey?: string, gatewayBaseURL?: string, token?: string, passphrase?: string }

/** Models by role. The gateway key that the user configured lies in the encrypted store and wins over the environment's. */
export default fp<Environment>(async (app, { gatewayKey, gatewayBaseURL, token, passphrase }) => {
  const providers = await createProviders({
    keys: app.store.record<{ gateway_key?: string }>('secrets', () => ({})),
    config: app.config,
    clock: app.clock,
    environment: { gatewayKey, gatewayBaseURL },
    variables: process.env
  })
  app.decorate('providers', providers)
  app.decorate('secrets', () => [...providers.secrets(), token, passphrase].filter((secret) => secret !== undefined))
}, { name: 'providers', dependencies: ['store', 'config', 'clock'] })
