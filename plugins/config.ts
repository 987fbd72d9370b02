import fp from 'fastify-plugin'
import { openConfig, type ConfigService } from '../services/config/config.ts'

declare module 'fastify' { interface FastifyInstance { config: ConfigService } }

export default fp<{ home: string }>(async (app, { home }) => {
  const config = await openConfig({ dir: home })
  if (config.problem) app.log.error(config.problem)
  app.log.level = config.current.log?.level ?? 'info'
  app.decorate('config', config)
}, { name: 'config' })
