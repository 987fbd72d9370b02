import type { ServerResponse } from 'node:http'
import { finished } from 'node:stream'
import fp from 'fastify-plugin'

/** A reader that does not take the rest of its answer in this time loses it. */
const READ_MS = 1_000

/**
 * Lets the answers that are under way reach their readers before the connections are closed. Registered last: whatever
 * runs was then told to end, and has said so in its stream.
 */
export default fp(async (app) => {
  const open = new Set<ServerResponse>()
  app.addHook('onRequest', async (_request, { raw }) => {
    open.add(raw)
    finished(raw, () => open.delete(raw))
  })
  app.addHook('preClose', async () => {
    const over = new AbortController()
    const read = Promise.all([...open].map((raw) => new Promise<void>((resolve) => finished(raw, () => resolve()))))
    await Promise.race([read, app.clock.timeout(app.shutdown.readersMs(READ_MS), over.signal).catch(() => {})])
    over.abort()
  })
}, { name: 'drain', dependencies: ['clock', 'gate', 'shutdown', 'agent'] })
