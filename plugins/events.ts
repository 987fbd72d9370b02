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
    /** `of` returns the ids of the open approvals of a run. */
    openApprovals: { of(runId: string): string[] }
  }
  interface FastifyReply {
    /**
     * Streams the events that the query selects, from the one after `lastId` if it is given. The stream ends when the client disconnects or
     * is too slow, and when the service ends. Throws UnknownTypes or TwoOwners (400).
     */
    streamEvents(query: EventsQuery, lastId?: string): void
    /** Streams the events of tasks, without event ids. */
    streamTasks(): void
  }
}

/** All events of the service, as one stream. The plugin `runs` ends the stream after all runs have reported their ends. */
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
  // All readers share one timer for the SSE comment lines that keep connections alive. The heartbeat of each connection is off.
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
    // The response to HEAD has no body. Left open, it would block the next requests on the same connection forever.
    if (reply.request.method === 'HEAD') return void raw.end()
    events.stream(raw, view, lastId)
  }
}, { name: 'events', dependencies: ['store', 'clock', 'config', 'stream', 'uploads', 'thread-pool'] })
