import fp from 'fastify-plugin'
import { openConfig, type ConfigService } from '../services/config/config.ts'
import { isUnsettled } from '../services/store/unsettled.ts'

declare module 'fastify' { interface FastifyInstance { config: ConfigService } }

/** The configuration. What an import or a change of the key has left to do is done before anything is read. */
export default fp<{ home: string }>(async (app, { home }) => {
  if (isUnsettled(home)) await (await import('../services/store/replace.ts')).settleAlone(home)
  const config = await openConfig({ dir: home, onChange: ({ log }) => { app.log.level = log?.level ?? 'info' } })
  if (config.problem) app.log.error(config.problem)
  app.decorate('config', config)
}, { name: 'config' })
