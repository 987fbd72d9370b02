import fp from 'fastify-plugin'

/** Delay after the start, so that the first requests are not slowed down; before the compile cache is written. Milliseconds. */
const DELAY_MS = 1_000

/** Loads the modules of the first run in advance, once the service listens. A failure is harmless: the run loads them again. */
export default fp(async (app) => {
  const closing = new AbortController()
  app.addHook('preClose', async () => closing.abort())
  app.addHook('onListen', () => {
    warmUp().catch((error) => {
      if (!closing.signal.aborted) app.log.warn({ err: error }, 'the warm-up failed')
    })
  })

  async function warmUp () {
    await app.clock.sleep(DELAY_MS, closing.signal)
    await app.providers.warm()
    await import('ai/internal')
    await import('ai')
    await app.desktop.probe()
    await app.tasks.warm()
    await import('../../services/models/compaction/compactor.ts')
    // Node loads fetch when one of its classes is first used.
    return new Headers()
  }
}, { name: 'warm-up', dependencies: ['clock', 'providers', 'desktop', 'tasks'] })
