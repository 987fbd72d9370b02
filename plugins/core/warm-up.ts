import { setImmediate as turn } from 'node:timers/promises'
import fp from 'fastify-plugin'
import { newId } from '../../services/lib/ids.ts'

/** Delay after the start, so that the first requests are not slowed down; before the compile cache is written. Milliseconds. */
const DELAY_MS = 1_000

/**
 * Loads and compiles what the first run needs, once the service listens: in steps, between which requests are handled. A failure
 * is harmless: the run does it again.
 */
export default fp(async (app) => {
  const closing = new AbortController()
  app.addHook('preClose', async () => closing.abort())
  app.addHook('onListen', () => {
    warmUp().catch((error) => {
      if (!closing.signal.aborted) app.log.warn({ err: error }, 'the warm-up failed')
    })
  })

  const steps = (): Array<() => unknown> => [
    () => app.providers.warm(),
    () => import('ai/internal'),
    () => import('ai'),
    () => import('../../services/models/compaction/compactor.ts'),
    // The first conversion compiles the SDK's schemas of messages.
    async () => {
      const { toPrompt } = await import('../../services/agent/message-import.ts')
      await toPrompt([{ role: 'user', content: 'none' }], app.tools.forModel, () => ({ name: 'message', isStored: true }))
    },
    ...app.compilers.compilersOf('/run'),
    () => app.desktop.probe(),
    // Node loads its random numbers and the classes of fetch when they are first used.
    () => newId(),
    () => new Response(),
    () => app.tasks.warm()
  ]

  async function warmUp () {
    await app.clock.sleep(DELAY_MS, closing.signal)
    for (const step of steps()) {
      await step()
      await turn(undefined, { signal: closing.signal })
    }
  }
}, { name: 'warm-up', dependencies: ['clock', 'providers', 'desktop', 'tasks'] })
