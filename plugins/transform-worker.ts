import fp from 'fastify-plugin'
import { createTransform, type Transform } from '../services/tools/transform/transform.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** For web documents. */
    transform: Transform
    /** For the user's files, with a worker of their own, so that slow web pages do not delay a search. */
    fileTransform: Transform
  }
}

/** Worker threads for CPU-intensive work on untrusted content. */
export default fp(async (app) => {
  for (const name of ['transform', 'fileTransform'] as const) {
    const transform = createTransform({ clock: app.clock })
    app.decorate(name, transform)
    app.addHook('onClose', transform.close)
  }
}, { name: 'transform', dependencies: ['clock'] })
