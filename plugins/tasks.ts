import fp from 'fastify-plugin'
import { createIdempotency } from '../services/http/idempotency.ts'
import { describeMachine } from '../services/process/describe-machine.ts'
import { createTasks, type Tasks } from '../services/tasks/task-service.ts'

declare module 'fastify' {
  interface FastifyInstance {
    tasks: Tasks
  }
}

/** Background tasks. Interrupted runs continue once the service listens. */
export default fp(async (app) => {
  const { store, clock, tools: host, fence, providers: registry, brain, ledger, liveQuestions, grants, journal, usage } = app
  const { config, workspace, log } = app
  const tasks = createTasks({
    store,
    clock,
    registry,
    host,
    fence,
    ledger,
    liveQuestions,
    grants,
    journal,
    usage,
    idempotency: createIdempotency({ store, clock }),
    config: () => config.current,
    memory: () => brain.promptText(),
    guides: app.folderGuides,
    machine: describeMachine(),
    workspace,
    emit: app.events.emit,
    log
  })
  app.decorate('tasks', tasks)
  let opened: Promise<void> | undefined
  app.addHook('onListen', async () => {
    opened = tasks.open()
  })
  // Recovery may still be incomplete: runs that it has not found are found at the next start.
  const closeRuns = app.shutdown.addPart('task runs', () => Promise.all([tasks.close(), opened]))
  app.addHook('preClose', closeRuns)
}, {
  name: 'tasks',
  dependencies: ['store', 'clock', 'config', 'shutdown', 'providers', 'tools', 'brain', 'ledger', 'journal', 'usage', 'events']
})
