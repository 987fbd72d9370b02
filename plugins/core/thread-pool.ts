import fp from 'fastify-plugin'
import { keepThreadsAwake } from '../../services/process/thread-pool.ts'

/** Lets no work on files wait for ever. The first plugin, so that it also sees the others close. */
export default fp(async (app) => {
  const stop = keepThreadsAwake()
  app.addHook('onClose', async () => stop())
}, { name: 'thread-pool' })
