import fp from 'fastify-plugin'
import { createUsageMeters, type UsageMeters } from '../services/usage/meter.ts'
import { createPrices } from '../services/usage/prices.ts'
import { createUsageReport } from '../services/usage/usage-report.ts'
import { createUsageRepository, type UsageRepository } from '../services/usage/usage-repository.ts'

declare module 'fastify' {
  interface FastifyInstance {
    usage:
      & UsageMeters
      & Pick<UsageRepository, 'of' | 'forget' | 'idle' | 'sweep' | 'take'>
      & { report: ReturnType<typeof createUsageReport> }
  }
}

/** The meters, budgets and usage records of model calls. */
export default fp(async (app) => {
  const { store, clock, providers, log } = app
  const config = () => app.config.current
  const repository = createUsageRepository({ store, clock, log })
  const prices = createPrices({ config, listed: providers.listedPrice })
  const meters = createUsageMeters({
    ...{ repository, prices, config, log },
    isOfMachine: (model) => providers.reach(model) === 'machine',
    ended: (call) => app.traces?.modelCall(call)
  })
  const { of, forget, idle, sweep, take } = repository
  app.decorate('usage', { ...meters, of, forget, idle, sweep, take, report: createUsageReport({ repository, clock }) })
  app.addHook('onClose', idle)
}, { name: 'usage', dependencies: ['store', 'clock', 'config', 'providers', 'traces'] })
