import fp from 'fastify-plugin'
import { keepThreadsAwake } from '../../services/process/thread-pool.ts'
import { systemClock } from '../../services/lib/clock.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Tells that work on files begins. */
    noteWork: () => void
  }
}

/** Lets no work on files wait for ever. The first plugin, so that it also sees the others close. */
export default fp(async (app) => {
  const { noteWork, stop } = keepThreadsAwake(systemClock)
  app.decorate('noteWork', noteWork)
  app.addHook('onRequest', (request, _reply, done) => {
    // A supervisor asks for it every few seconds, and it reads no file.
    if (request.url !== '/health') noteWork()
    done()
  })
  app.addHook('preClose', async () => noteWork())
  app.addHook('onClose', async () => stop())
}, { name: 'thread-pool' })
