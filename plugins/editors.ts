import fp from 'fastify-plugin'
import { createOpenEditors, type OpenEditors } from '../services/tools/files/open-editors.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The editors in which users work on the files of conversations. */
    openEditors: OpenEditors
  }
}

/** Connected editors. The service asks them for the unsaved text of files. */
export default fp(async (app) => {
  const editors = createOpenEditors({
    clock: app.clock,
    // The engine is created after the tools, so `app.engine` is read only at a call.
    threadOf: (runId) => app.engine.activeRuns.ofRun(runId)?.run.record.threadId
  })
  app.decorate('openEditors', editors)
  app.addHook('preClose', async () => editors.close())
}, { name: 'editors', dependencies: ['clock'] })
