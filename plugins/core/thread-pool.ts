import fp from 'fastify-plugin'
import { keepThreadsAwake } from '../../services/process/thread-pool.ts'
import { systemClock } from '../../services/lib/clock.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Notes a sign of work on files, so that the threads of Node's pool are kept awake. */
    noteWork: () => void
  }
}

/** Keeps the threads of Node's pool awake, so that no work on files waits forever. The first plugin, so that it closes after all others. */
export default fp(async (app) => {
  const { noteWork, stop } = keepThreadsAwake(systemClock)
  app.decorate('noteWork', noteWork)
  app.addHook('onRequest', (request, _reply, done) => {
    // Supervisors request /health every few seconds, and the route reads no file.
    if (request.url !== '/health') noteWork()
    done()
  })
  app.addHook('preClose', async () => noteWork())
  app.addHook('onClose', async () => stop())
}, { name: 'thread-pool' })
