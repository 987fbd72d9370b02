import fp from 'fastify-plugin'
import { openStore } from '../../services/store/open.ts'
import type { Store, StoreOptions } from '../../services/store/store-types.ts'

declare module 'fastify' {
  interface FastifyInstance {
    store: Store
  }
}

/** Delay of the background check, so that the first requests are not slowed down. Milliseconds. */
const CHECK_AFTER_MS = 3_000

/** The encrypted store. It closes last, because every plugin that writes depends on it and is registered later. */
export default fp<Pick<StoreOptions, 'passphrase' | 'parent' | 'ending'> & { home: string }>(
  async (app, { home, passphrase, parent, ending }) => {
    const store = await openStore({ dir: home, passphrase, parent, ending, clock: app.clock, log: app.log, noteWork: app.noteWork })
    app.decorate('store', store)
    const closing = new AbortController()
    app.addHook('onListen', () => {
      app.clock.sleep(CHECK_AFTER_MS, closing.signal).then(store.checkTables, () => {})
    })
    app.addHook('preClose', async () => closing.abort())
    app.addHook('onClose', async () => store.close())
  },
  { name: 'store', dependencies: ['clock', 'config', 'thread-pool'] }
)
