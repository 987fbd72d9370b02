import fp from 'fastify-plugin'
import type { Settings } from '../settings.ts'
import type { ProviderSecrets } from '../services/models/providers/provider-keys.ts'
import { createProviders, type Providers } from '../services/models/providers/providers.ts'
import type { StoredLimits } from '../services/models/providers/learned-limits.ts'
import { RECORDS } from '../services/store/keys.ts'

declare module 'fastify' {
  interface FastifyInstance {
    providers: Providers
  }
}

interface Environment {
  gatewayKey?: string
  gatewayBaseURL?: string
  keys?: Record<string, string>
}

/** Models by role. Keys that the user has stored take precedence over keys in the environment. */
export default fp<Environment & Pick<Settings, 'home' | 'replay'>>(async (app, { home, gatewayKey, gatewayBaseURL, keys, replay }) => {
  const providers = await createProviders({
    keys: app.store.record<ProviderSecrets>(RECORDS.secrets, () => ({})),
    limits: app.store.record<StoredLimits>(RECORDS.learnedLimits, () => ({})),
    config: app.config,
    clock: app.clock,
    files: app.attachedFiles,
    // The tool host is created later, so `app.tools` is read only at a call.
    toolOf: (name) => app.tools.find(name),
    environment: { gatewayKey, gatewayBaseURL, keys },
    home,
    // The environment of child processes is computed later, because the stored keys are withheld from it.
    childEnvironment: () => app.childEnvironment(),
    variables: process.env,
    ...(replay?.provider && { only: replay.provider })
  })
  app.decorate('providers', providers)
  app.config.addCheck(({ model }) => {
    if (model !== undefined) providers.parseModelId(model)
  })
  app.addHook('onClose', providers.close)
  app.secrets.add(providers.secrets)
}, { name: 'providers', dependencies: ['store', 'config', 'clock', 'attachments'] })
