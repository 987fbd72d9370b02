import fp from 'fastify-plugin'
import { createDesktop, type Desktop } from '../services/tools/desktop/control/desktop.ts'

declare module 'fastify' {
  interface FastifyInstance {
    desktop: Desktop
  }
}

/** Control of the screen, mouse and keyboard, where the system offers it. */
export default fp(async (app) => {
  const desktop = createDesktop({ clock: app.clock, environment: app.childEnvironment })
  app.decorate('desktop', desktop)
  app.addHook('onClose', desktop.close)
}, { name: 'desktop', dependencies: ['clock', 'environment'] })
