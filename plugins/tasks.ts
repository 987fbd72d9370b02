import fp from 'fastify-plugin'
import { describeMachine } from '../services/process/shell.ts'
import { systemClock } from '../services/lib/clock.ts'
import { createTransform } from '../services/tools/transform/transform.ts'
import { createTasks, type Tasks } from '../services/tasks/task-service.ts'

declare module 'fastify' {
  interface FastifyInstance {
    tasks: Tasks
  }
}

/** Background tasks. Interrupted runs continue after the service listens. */
export default fp(async (app) => {
  const { engine, idempotency, tools: host, providers: registry, liveQuestions, undo, usage, workspace } = app
  // Tasks have workers of their own, so that a slow folder does not delay a search. The second worker is for very slow folders, so that
  // they do not delay the checks of others. Their limits are about file systems, so they follow the system clock even in tests.
  const [transform, slowTransform] = [1, 2].map(() => createTransform({ clock: systemClock }))
  const tasks = createTasks({
    ...engine,
    registry,
    host,
    helpers: app.helperQueue,
    liveQuestions,
    undo,
    usage,
    agents: app.agents,
    copies: app.copies,
    idempotency,
    memory: app.toldMemory.forRun,
    guides: app.folderGuides,
    skills: app.skills,
    paths: app.paths,
    transform,
    slowTransform,
    machine: describeMachine(),
    workspace,
    keepAwake: app.keepAwake,
    emit: app.events.emit,
    notifications: app.notifications,
    // The plugin `threads` is registered later.
    threads: { list: (page) => app.threads.list(page) }
  })
  app.decorate('tasks', tasks)
  app.addHook('onReady', tasks.rehearsals.recover)
  let opened: Promise<void> | undefined
  app.addHook('onListen', async () => {
    opened = tasks.open()
  })
  // The shutdown can interrupt the recovery. The next start finds the runs that are still missing.
  const closeRuns = app.shutdown.addPart('task runs', () => Promise.all([tasks.close(), opened]))
  app.addHook('preClose', closeRuns)
  app.addHook('onClose', async () => void await Promise.all([transform.close(), slowTransform.close()]))
}, {
  name: 'tasks',
  dependencies: [
    ...['store', 'clock', 'shutdown', 'providers', 'tools', 'brain', 'ledger', 'engine', 'agents', 'undo', 'usage', 'events', 'paths'],
    ...['copies', 'notifications', 'awake']
  ]
})
