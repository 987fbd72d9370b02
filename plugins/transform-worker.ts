import fp from 'fastify-plugin'
import { createTransform, type Transform } from '../services/tools/transform/transform.ts'

declare module 'fastify' {
  interface FastifyInstance {
    transform: Transform
  }
}

/** CPU-intensive work on untrusted content, in a worker thread. */
export default fp(async (app) => {
  const transform = createTransform({ clock: app.clock })
  app.decorate('transform', transform)
  app.addHook('onClose', transform.close)
}, { name: 'transform', dependencies: ['clock'] })
