import fp from 'fastify-plugin'
import { createProviders, type Providers } from '../services/providers/providers.ts'
import { RECORDS } from '../services/store/keys.ts'

declare module 'fastify' {
  interface FastifyInstance {
    providers: Providers
  }
}

interface Environment {
  gatewayKey?: string
  gatewayBaseURL?: string
}

/** Models by role. A gateway key that the user configured is in the encrypted store and takes precedence over the environment's. */
export default fp<Environment>(async (app, { gatewayKey, gatewayBaseURL }) => {
  const providers = await createProviders({
    keys: app.store.record<{ gateway_key?: string }>(RECORDS.secrets, () => ({})),
    config: app.config,
    clock: app.clock,
    environment: { gatewayKey, gatewayBaseURL },
    variables: process.env
  })
  app.decorate('providers', providers)
  app.secrets.add(providers.secrets)
}, { name: 'providers', dependencies: ['store', 'config', 'clock'] })
