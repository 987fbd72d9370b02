import fp from 'fastify-plugin'
import { createThreadService, type ThreadService } from '../services/threads/thread-service.ts'

declare module 'fastify' {
  interface FastifyInstance {
    threads: ThreadService
  }
}

const NEEDED = ['store', 'clock', 'events', 'threadRepository', 'ledger', 'undo', 'usage', 'agents', 'agent', 'commands', 'paths']

/** Threads together with the state of their runs, for the routes. */
export default fp(async (app) => {
  const { store, clock, events, threadRepository: threads, agent, agents, ledger, undo, usage, attachments, workspace } = app
  const { emit } = events
  const endCommands = app.backgroundCommands.endOf
  app.decorate(
    'threads',
    createThreadService({ store, clock, emit, threads, agent, agents, ledger, undo, usage, attachments, endCommands, workspace })
  )
}, { name: 'threads', dependencies: NEEDED })
