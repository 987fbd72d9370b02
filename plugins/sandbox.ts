import { join } from 'node:path'
import fp from 'fastify-plugin'
import { createPrivateFolders } from '../services/sandbox/private-folders.ts'
import { createSandbox, type BoxKind, type Sandbox } from '../services/sandbox/sandbox.ts'
import { newId } from '../services/lib/ids.ts'
import type { CommitEnd } from '../services/sandbox/commit-ends.ts'
import type { StoredState } from '../services/sandbox/folder-checks.ts'
import type { Op } from '../services/store/index.ts'
import { BOX_COMMITS, BOX_STATES, boxBegunKey, boxCommitsKey, boxStateKey } from '../services/store/keys.ts'
import { realPathOf } from '../services/tools/path-policy.ts'
import { withFolder } from '../services/workspace/open-folder.ts'

declare module 'fastify' {
  interface FastifyInstance {
    sandbox: Sandbox
  }
}

/** Boxes for commands. The program that makes them is looked for when a model is first told of the tools. */
export default fp<{ home: string, boxes?: BoxKind }>(async (app, { home, boxes }) => {
  /**
   * Creates the address policy for the connections of boxes, the sandboxes in which commands and tool servers run. It refuses private
   * addresses, even if the configuration allows them for fetchUrl.
   */
  const policy = async () => {
    const { createAddressPolicy } = await import('../services/tools/web/fetch/address-policy.ts')
    return createAddressPolicy({ allowPrivate: () => false, ownPorts: () => [] })
  }
  /** Returns the folder name of an owner. The ids of threads are chosen by callers, so the name holds their digest. */
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
      begin: (folder, what) =>
        app.store.transact([{ type: 'put', key: boxBegunKey(app.store.digest(folder), newId()), value: what }]),
      async drop (folder) {
        const ops: Op[] = []
        for await (const key of app.store.keys(boxStateKey(app.store.digest(folder)))) ops.push({ type: 'del', key })
        await app.store.transact(ops)
      },
      async * list () {
        // Keys are sorted, so a folder's state comes before the entries of what was begun in that folder.
        const states: StoredState[] = []
        for await (const [, each] of app.store.list<StoredState | string>(BOX_STATES, { damaged () {} })) {
          if (typeof each !== 'string') states.push({ ...each, begun: [] })
          else states.at(-1)?.begun?.push(each)
        }
        yield * states
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
  // Runs before any request or task can run a command.
  app.addHook('onReady', async () => {
    await sandbox.finishCut(async ({ folder, at }, taken) => {
      app.log.warn({ taken }, 'what programs obey was put back, as the service ended while a command ran')
      // The paths in the sentences are shortened, because the folder's path would fill most of the notification.
      const text = `The service ended while a command ran in ${folder}. ${taken.join(' ').replaceAll(`${folder}/`, '')}`
      await app.notifications.notify({ kind: 'boxed', key: `boxed/${app.store.digest(folder)}/${at}`, text })
    })
  })
}, { name: 'sandbox', dependencies: ['clock', 'config', 'environment', 'store'] })
