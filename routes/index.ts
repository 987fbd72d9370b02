import type { App } from '../app.ts'
import agent from './agent.ts'
import providers from './providers.ts'
import service from './service.ts'

/** Every route of the service. */
export async function registerRoutes (app: App) {
  await app.register(service)
  await app.register(agent)
  await app.register(providers)
}
