import { once } from 'node:events'
import { request } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import fp from 'fastify-plugin'
import { newId } from '../../services/lib/ids.ts'

/** Delay after the start, in milliseconds: long enough not to slow down the first requests, and before the compile cache is written. */
const DELAY_MS = 1_000

/**
 * Loads and compiles the parts that the first run needs, once the service listens. Requests are handled between the steps. A failure is
 * harmless, because the run loads the same parts itself.
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
    () => import('../../services/threads/compaction/compactor.ts'),
    // The first conversion compiles the SDK's schemas of messages.
    async () => {
      const { toPrompt } = await import('../../services/agent/message-import.ts')
      await toPrompt([{ role: 'user', content: 'none' }], app.tools.forModel, () => ({ name: 'message', isStored: true }))
    },
    // A validator is compiled twice: to JavaScript now, and by V8 when it is first called.
    ...app.compilers.compilersOf('/run').map((compile: () => (body: unknown) => boolean) => () => compile()({})),
    askOurselves,
    () => app.desktop.probe(),
    // Makes a test box. Otherwise the first run would wait for such a box before its model is told of the tools.
    () => app.sandbox.find(),
    // Node loads its random numbers and the classes of `fetch` when they are first used.
    () => newId(),
    readResponse,
    () => app.tasks.warm()
  ]

  /** Sends a request to the service itself, which compiles the code that every request and every model call go through. */
  async function askOurselves () {
    const address = app.server.address()
    if (address === null || typeof address === 'string') return
    const asked = request({ host: address.address, port: address.port, path: '/health', agent: false, signal: closing.signal }).end()
    const [response] = await once(asked, 'response')
    await once(response.resume(), 'end')
  }

  async function warmUp () {
    await app.clock.sleep(DELAY_MS, closing.signal)
    for (const step of steps()) {
      await step()
      await turn(undefined, { signal: closing.signal })
    }
  }
}, { name: 'warm-up', dependencies: ['clock', 'providers', 'desktop', 'sandbox', 'tasks'] })

/**
 * Reads a response as the AI SDK does. When a stream reader is released for the first time, Node creates an internal context, which takes 2
 * ms.
 */
async function readResponse () {
  const reader = new Response('none').body!.getReader()
  await reader.read()
  reader.releaseLock()
}
