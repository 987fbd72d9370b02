import fp from 'fastify-plugin'
import { createTransform } from '../services/tools/transform/transform.ts'
import { describeMachine } from '../services/process/shell.ts'

declare module 'fastify' {
  interface FastifyInstance {
    recordings: {
      /** See `recordRun`. */
      record(runId: string, signal: AbortSignal): Promise<string>
    }
  }
}

/** Recordings of runs. The code is loaded when the first recording is made. */
export default fp(async (app) => {
  const { engine, threadRepository: threads, tasks, ledger, undo, tools: host, providers: registry, secrets, clock } = app
  const transform = createTransform({ clock })
  app.addHook('onClose', transform.close)
  app.decorate('recordings', {
    async record (runId, signal) {
      const { recordRun } = await import('../services/recordings/record-run.ts')
      return recordRun(runId, {
        ...{ runs: engine.runs, threads, tasks, ledger, undo, host, registry },
        config: () => app.config.current,
        box: () => app.sandbox.kind()?.is,
        secrets: secrets.all,
        workspace: app.workspace,
        machine: describeMachine(),
        now: clock.now,
        transform,
        isLive: (id) => app.runs.isLive(id)
      }, signal)
    }
  })
}, { name: 'recordings', dependencies: ['sandbox', 'engine', 'agent', 'tasks', 'undo', 'ledger', 'tools', 'providers'] })
