import fp from 'fastify-plugin'
import { openConfig, type ConfigService } from '../services/config/config.ts'

declare module 'fastify' { interface FastifyInstance { config: ConfigService } }

export default fp<{ home: string }>(async (app, { home }) => {
  const config = await openConfig({ dir: home, onChange: ({ log }) => { app.log.level = log?.level ?? 'info' } })
  if (config.problem) app.log.error(config.problem)
  app.decorate('config', config)
}, { name: 'config' })
