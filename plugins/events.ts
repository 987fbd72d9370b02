import { isDeepStrictEqual } from 'node:util'
import { fastifySSE } from '@fastify/sse'
import type { FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import type { Config } from '../schemas/config.ts'
import type { EventsQuery } from '../schemas/events.ts'
import { announceApprovals } from '../services/approvals/announce-approvals.ts'
import { createEventBus, type EventBus } from '../services/events/event-bus.ts'
import { eventView, tasksView, type EventView } from '../services/events/replay-buffer.ts'

declare module 'fastify' {
  interface FastifyInstance {
    events: EventBus
    /** What waits for a person or for the application. */
    openApprovals: { of(runId: string): string[] }
  }
  interface FastifyReply {
    /**
     * Streams the events that the query asks for, after `lastId` if there is one, until the client disconnects, is too slow, or the
     * service ends. Throws UnknownTypes or TwoOwners (400).
     */
    streamEvents(query: EventsQuery, lastId?: string): void
    /** Streams the events of tasks, without ids. */
    streamTasks(): void
  }
}

/** All that happens in the service, as one stream. The plugin `runs` ends it, when the runs have told their ends. */
export default fp(async (app) => {
  const { store, clock, config, log } = app
  const events = createEventBus({ clock })
  app.decorate('events', events)
  events.onEvent(app.noteWork)
  let before: Config = config.current
  config.watch((after) => {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])] as Array<keyof Config>
    const changed = keys.filter((key) => !isDeepStrictEqual(before[key], after[key]))
    before = after
    if (changed.length > 0) events.emit({ type: 'config:changed', keys: changed, at: clock.now() })
  })
  const approvals = announceApprovals({ store, clock, emit: events.emit })
  app.decorate('openApprovals', { of: approvals.openOf })
  app.addHook('onListen', () => {
    approvals.load(app.ledger.readOpen()).catch((error) => log.warn({ err: error }, 'the open approvals could not be read for the events'))
  })
  // The readers share one timer for comment lines, instead of one each.
  await app.register(fastifySSE, { heartbeatInterval: 0 })
  app.decorateReply('streamEvents', function (this: FastifyReply, query: EventsQuery, lastId?: string) {
    stream(this, eventView(query), lastId)
  })
  app.decorateReply('streamTasks', function (this: FastifyReply) {
    stream(this, tasksView)
  })

  function stream (reply: FastifyReply, view: EventView, lastId?: string) {
    const { raw, sse } = reply
    sse.sendHeaders()
    sse.keepAlive()
    raw.flushHeaders()
    reply.hijack()
    // A reader that has no body to read would never leave, and would hold up the requests behind it.
    if (reply.request.method === 'HEAD') return void raw.end()
    events.stream(raw, view, lastId)
  }
}, { name: 'events', dependencies: ['store', 'clock', 'config', 'stream', 'uploads', 'thread-pool'] })
