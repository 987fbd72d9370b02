import fp from 'fastify-plugin'
import type { Health } from '../../schemas/service.ts'
import type { StoreStatus } from '../../services/store/store-types.ts'
import { BUILD, NAME } from '../../services/lib/version.ts'

declare module 'fastify' {
  interface FastifyInstance {
    health: {
      about(): { name: string, model: string, workspace: string, endpoints: string[] },
      health(): Health,
      ready(): boolean
    }
  }
}

const storeCheck = ({ state, error, repaired, damaged }: StoreStatus): string => {
  if (state !== 'ok') return error ? `${state}: ${error}` : state
  if (repaired) return 'repaired: records may be missing'
  return damaged ? 'damaged: a record cannot be read' : 'ok'
}

/** The service's description, health and readiness. */
export default fp(async (app) => {
  const startedAt = app.clock.monotonic()
  let listening = false
  app.addHook('onListen', async () => {
    listening = true
  })

  app.decorate('health', {
    about: () => ({ name: NAME, model: app.providers.active(), workspace: app.workspace(), endpoints: app.routeTable.endpoints }),
    health () {
      const checks = {
        store: storeCheck(app.store.status()),
        config: app.config.problem ?? 'ok',
        scheduler: app.tasks.check(),
        model: app.providers.problem() ?? 'ok',
        awake: app.keepAwake.problem() ?? 'ok',
        workspace: app.noWorkspace() ?? 'ok'
      }
      const isOk = checks.store === 'ok' && checks.config === 'ok' && (checks.scheduler === 'ok' || checks.scheduler === 'starting') &&
        checks.model === 'ok'
      return {
        status: isOk ? 'ok' as const : 'degraded' as const,
        version: BUILD,
        uptimeMs: Math.round(app.clock.monotonic() - startedAt),
        checks
      }
    },
    ready: () => listening && !app.draining.value
  })
}, { name: 'health', dependencies: ['clock', 'config', 'store', 'gate', 'providers', 'tools', 'tasks', 'awake', 'route-table'] })
