import { join } from 'node:path'
import fp from 'fastify-plugin'
import { createPrivateFolders } from '../services/sandbox/private-folders.ts'
import { createSandbox, type BoxKind, type Sandbox } from '../services/sandbox/sandbox.ts'
import { newId } from '../services/lib/ids.ts'
import type { CommitEnd } from '../services/sandbox/commit-ends.ts'
import type { StoredState } from '../services/sandbox/folder-checks.ts'
import { BOX_COMMITS, BOX_STATES, boxCommitsKey, boxStateKey } from '../services/store/keys.ts'
import { realPathOf } from '../services/tools/path-policy.ts'
import { withFolder } from '../services/workspace/open-folder.ts'

declare module 'fastify' {
  interface FastifyInstance {
    sandbox: Sandbox
  }
}

/** Boxes for commands. What makes them is found out when a model is first told of the tools. */
export default fp<{ home: string, boxes?: BoxKind }>(async (app, { home, boxes }) => {
  /** Decides for each connection; private addresses are refused whatever fetchUrl may reach. */
  const policy = async () => {
    const { createAddressPolicy } = await import('../services/tools/web/fetch/address-policy.ts')
    return createAddressPolicy({ allowPrivate: () => false, ownPorts: () => [] })
  }
  /** Names that callers choose are stored as digests. */
  const nameOf = (owner: string) => {
    const [kind, ...id] = owner.split(':')
    return `${kind}-${kind === 'thread' ? app.store.digest(id.join(':')) : id.join(':')}`
  }
  let loading: ReturnType<typeof policy> | undefined
  const sandbox = createSandbox({
    clock: app.clock,
    ownHome: home,
    environment: app.childEnvironment,
    mode: () => app.config.current.commands?.sandbox ?? 'auto',
    lookUp: async (url) => (await (loading ??= policy())).addresses(url),
    withFolder,
    shownAt: (path) => realPathOf(path, app.copies),
    privateFolders: createPrivateFolders({ clock: app.clock, root: join(home, 'boxes'), nameOf }),
    shelf: {
      put: (state) => app.store.transact([{ type: 'put', key: boxStateKey(app.store.digest(state.folder)), value: state }]),
      drop: (folder) => app.store.transact([{ type: 'del', key: boxStateKey(app.store.digest(folder)) }]),
      async * list () {
        for await (const [, state] of app.store.list<StoredState>(BOX_STATES, { damaged () {} })) yield state
      }
    },
    endsShelf: {
      append: (ends) => app.store.transact([{ type: 'put', key: boxCommitsKey(newId()), value: ends }]),
      async * list () {
        for await (const [, ends] of app.store.list<CommitEnd[]>(BOX_COMMITS, { damaged () {} })) yield ends
      }
    },
    kind: boxes,
    found (kind) {
      if (kind.is === 'none') app.log.info(`Commands run outside a box: ${kind.why}.`)
      else app.log.info(`Commands run in a box of ${kind.is}.`)
    }
  })
  app.decorate('sandbox', sandbox)
  // Before a request or a task runs anything.
  app.addHook('onReady', async () => {
    const taken = await sandbox.finishCut()
    if (taken.length > 0) app.log.warn({ taken }, 'what programs obey was put back, as the service ended while a command ran')
  })
}, { name: 'sandbox', dependencies: ['clock', 'config', 'environment', 'store'] })
