import type { FastifyReply } from 'fastify'
import { fastifySSE } from '@fastify/sse'
import fp from 'fastify-plugin'
import { createIdempotency } from '../services/http/idempotency.ts'
import { describeMachine } from '../services/process/describe-machine.ts'
import { createTaskEvents } from '../services/tasks/task-events.ts'
import { createTasks, type Tasks } from '../services/tasks/task-service.ts'

declare module 'fastify' {
  interface FastifyInstance {
    tasks: Tasks
  }
  interface FastifyReply {
    /** Streams the events of tasks until the client disconnects, lags too far behind, or the service shuts down. */
    streamTasks(): Promise<void>
  }
}

/** Interval of comment lines, which prevent time-outs of proxies and clients, in milliseconds. */
const PING_MS = 15_000

/** Background tasks and the stream of their events. Interrupted runs continue once the service listens. */
export default fp(async (app) => {
  const { store, clock, tools: host, fence, providers: registry, brain, ledger, grants, journal, usage, config, workspace, log } = app
  const bus = createTaskEvents({ clock })
  const tasks = createTasks({
    store,
    clock,
    registry,
    host,
    fence,
    ledger,
    grants,
    journal,
    usage,
    idempotency: createIdempotency({ store, clock }),
    config: () => config.current,
    memory: () => brain.promptText(),
    guides: app.folderGuides,
    machine: describeMachine(),
    workspace,
    emit: bus.emit,
    log
  })
  app.decorate('tasks', tasks)
  await app.register(fastifySSE, { heartbeatInterval: PING_MS, serializer: (data) => data })
  app.decorateReply('streamTasks', async function (this: FastifyReply) {
    const { raw, closed, sse } = this
    const events = bus.listen(closed, () => raw.destroy())
    sse.sendHeaders()
    raw.flushHeaders()
    // A send to a client that disconnects meanwhile never settles.
    const disconnected = new Promise<void>((resolve) => {
      closed.addEventListener('abort', () => resolve(), { once: true })
    })
    await Promise.race([sse.send(events), disconnected])
    await events.return(undefined)
  })
  let opened: Promise<void> | undefined
  app.addHook('onListen', async () => {
    opened = tasks.open()
  })
  // Recovery may still be incomplete: runs that it has not found are found at the next start.
  const closeRuns = app.shutdown.addPart('task runs', () => Promise.all([tasks.close(), opened]))
  app.addHook('preClose', async () => {
    await closeRuns()
    bus.emit({ type: 'service:shutdown' })
    bus.close()
  })
}, {
  name: 'tasks',
  dependencies: ['store', 'clock', 'config', 'shutdown', 'providers', 'tools', 'brain', 'ledger', 'journal', 'usage', 'stream']
})
