import fp from 'fastify-plugin'

/** By then whoever started the service has had its first answers; before the compile cache is written. Milliseconds. */
const DELAY_MS = 1_000

/** Loads what the first run would otherwise wait for, once the service listens. Failing is no harm: the run loads it again. */
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
    await import('../../services/models/compaction/compactor.ts')
    // Node loads fetch when a part of it is first used.
    return new Headers()
  }
}, { name: 'warm-up', dependencies: ['clock', 'providers', 'desktop'] })
