import type { FastifyReply } from 'fastify'
import { fastifySSE } from '@fastify/sse'
import fp from 'fastify-plugin'
import { createIdempotency } from '../services/http/idempotency.ts'
import { createTaskEvents } from '../services/tasks/task-events.ts'
import { createTasks, type Tasks } from '../services/tasks/task-service.ts'

declare module 'fastify' {
  interface FastifyInstance {
    tasks: Tasks
  }
  interface FastifyReply {
    /** Answers with what happens to tasks, until the client goes away, lags too far behind, or the service ends. */
    streamTasks(): Promise<void>
  }
}

/** A comment line after so much time keeps proxies and clients from giving up, milliseconds. */
const PING_MS = 15_000

/** Background tasks, and the stream of what happens to them. Runs that are under way go on once the service listens. */
export default fp(async (app) => {
  const { store, clock, tools: host, fence, providers: registry, brain, config, workspace, log } = app
  const bus = createTaskEvents({ clock })
  const tasks = createTasks({
    store,
    clock,
    registry,
    host,
    fence,
    idempotency: createIdempotency({ store, clock }),
    config: () => config.current,
    memory: () => brain.promptText(),
    workspace,
    emit: bus.emit,
    log
  })
  app.decorate('tasks', tasks)
  await app.register(fastifySSE, { heartbeatInterval: PING_MS, serializer: (data) => data })
  app.decorateReply('streamTasks', async function (this: FastifyReply) {
    const { raw, over, sse } = this
    const events = bus.listen(over, () => raw.destroy())
    sse.sendHeaders()
    raw.flushHeaders()
    // A send to a client that went away in the middle of it never settles.
    const gone = new Promise<void>((resolve) => {
      over.addEventListener('abort', () => resolve(), { once: true })
    })
    await Promise.race([sse.send(events), gone])
    await events.return(undefined)
  })
  let opened: Promise<void> | undefined
  app.addHook('onListen', async () => {
    opened = tasks.open()
  })
  // However much was under way when it opened: what is not found by now is found at the next start.
  const closed = app.shutdown.part('task runs', () => Promise.all([tasks.close(), opened]))
  app.addHook('preClose', async () => {
    await closed()
    bus.emit({ type: 'service:shutdown' })
    bus.close()
  })
}, { name: 'tasks', dependencies: ['store', 'clock', 'config', 'shutdown', 'providers', 'tools', 'brain', 'stream'] })
