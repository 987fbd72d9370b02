import fp from 'fastify-plugin'
import { createOpenEditors, type OpenEditors } from '../services/tools/files/open-editors.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The editors in which users work on the files of conversations. */
    openEditors: OpenEditors
  }
}

/** Editors that are asked for texts which are not saved. */
export default fp(async (app) => {
  const editors = createOpenEditors({
    clock: app.clock,
    // The runs are made of the tools.
    threadOf: (runId) => app.engine.activeRuns.ofRun(runId)?.run.record.threadId
  })
  app.decorate('openEditors', editors)
  app.addHook('preClose', async () => editors.close())
}, { name: 'editors', dependencies: ['clock'] })
