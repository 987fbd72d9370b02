import fp from 'fastify-plugin'
import type { Settings } from '../../settings.ts'
import { openConfig, type ConfigService } from '../../services/config/config.ts'
import { waitForEnding, type LockOptions } from '../../services/store/directory-lock.ts'
import { logFile } from '../../services/log/rotating-file.ts'
import { finishErasureLocked, hasPendingErasure } from '../../services/store/erasure/erase.ts'
import { finishReplacementLocked, hasPendingReplacement } from '../../services/store/replacement/replace.ts'

declare module 'fastify' {
  interface FastifyInstance {
    config: ConfigService
  }
}

/**
 * The configuration. Before it is read, this plugin waits until an earlier service on the same folder has shut down, since that service
 * might still write it. It then finishes a pending import, key change or erasure.
 */
export default fp<LockOptions & Pick<Settings, 'home' | 'token' | 'log'>>(async (app, { home, token, parent, ending, log: output }) => {
  const options = { clock: app.clock, parent, ending }
  await waitForEnding(home, options)
  if (hasPendingErasure(home)) await finishErasureLocked(home, { ...options, logFile })
  if (hasPendingReplacement(home)) await finishReplacementLocked(home, options)
  const config = await openConfig({
    dir: home,
    hasToken: token !== undefined,
    onChange: ({ log }) => {
      app.log.level = log?.level ?? 'info'
      output?.useFile?.(logFile(home, log))
    }
  })
  if (config.problem) app.log.error(config.problem)
  app.decorate('config', config)
}, { name: 'config', dependencies: ['clock'] })
