import fp from 'fastify-plugin'
import { createTransform, type Transform } from '../services/tools/transform/transform.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** For documents of the web. */
    transform: Transform
    /** For files of the user: pages that take long must not delay a search. */
    fileTransform: Transform
  }
}

/** CPU-intensive work on untrusted content, in worker threads. */
export default fp(async (app) => {
  for (const name of ['transform', 'fileTransform'] as const) {
    const transform = createTransform({ clock: app.clock })
    app.decorate(name, transform)
    app.addHook('onClose', transform.close)
  }
}, { name: 'transform', dependencies: ['clock'] })
