import fp from 'fastify-plugin'
import { createThreadService, type ThreadService } from '../services/threads/thread-service.ts'

declare module 'fastify' {
  interface FastifyInstance {
    threads: ThreadService
  }
}

const NEEDED = ['store', 'clock', 'events', 'threadRepository', 'ledger', 'undo', 'usage', 'agents', 'agent', 'paths']

/** Threads with the state of their runs, for the routes. */
export default fp(async (app) => {
  const { store, clock, events, threadRepository: threads, agent, agents, ledger, undo, usage, attachments, workspace } = app
  const { emit } = events
  app.decorate('threads', createThreadService({ store, clock, emit, threads, agent, agents, ledger, undo, usage, attachments, workspace }))
}, { name: 'threads', dependencies: NEEDED })
