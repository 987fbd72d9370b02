import fp from 'fastify-plugin'
import { type Agents, createAgents, type StoredAgents } from '../services/runs/options/agents.ts'
import { RECORDS } from '../services/store/index.ts'

declare module 'fastify' {
  interface FastifyInstance {
    agents: Agents
  }
}

/** Agents: named sets of options for conversations, runs and tasks. */
export default fp(async (app) => {
  const { store, clock, providers: registry, tools: host, events: { emit } } = app
  app.decorate('agents', createAgents({
    record: store.record<StoredAgents>(RECORDS.agents, () => ({})),
    clock,
    registry,
    host,
    emit,
    // The plugins of threads and tasks depend on this one, so both are read only at a call.
    usersOf: async (name) => [...await app.threads.usersOf(name), ...await app.tasks.usersOf(name)]
  }))
}, { name: 'agents', dependencies: ['store', 'clock', 'providers', 'tools', 'events'] })
