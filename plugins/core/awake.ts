import fp from 'fastify-plugin'
import type { Settings } from '../../settings.ts'
import { awakePrograms, createKeepAwake, type KeepAwake } from '../../services/process/keep-awake.ts'

declare module 'fastify' {
  interface FastifyInstance {
    keepAwake: KeepAwake
  }
}

/** Keeps the machine awake while the agent works. */
export default fp<Pick<Settings, 'home' | 'awakePrograms'>>(async (app, { home, awakePrograms: programs = awakePrograms() }) => {
  const { clock, config, childEnvironment: env, log } = app
  const keepAwake = createKeepAwake({ programs, clock, env, cwd: home, isWanted: () => config.current.awake ?? true, log })
  config.watch(() => void keepAwake.update())
  app.decorate('keepAwake', keepAwake)
  app.addHook('onClose', keepAwake.close)
}, { name: 'awake', dependencies: ['clock', 'config', 'environment'] })
