import fp from 'fastify-plugin'
import { createThreads, type Threads } from '../services/threads/thread-repository.ts'

declare module 'fastify' { interface FastifyInstance { threads: Threads } }

export default fp(async (app) => {
  app.decorate('threads', createThreads({ store: app.store, clock: app.clock }))
}, { name: 'threads', dependencies: ['store', 'clock'] })
