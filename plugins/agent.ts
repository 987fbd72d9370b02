import fp from 'fastify-plugin'
import { createAgent, type Agent } from '../services/agent/agent.ts'
import { createConversationStates } from '../services/agent/conversation-state.ts'
import { describeMachine } from '../services/process/describe-machine.ts'

declare module 'fastify' {
  interface FastifyInstance {
    agent: Agent
  }
}

const NEEDED = ['store', 'clock', 'config', 'shutdown', 'providers', 'tools', 'threads', 'brain', 'ledger', 'usage', 'tasks', 'stream']

/** Conversations and their approvals. Runs end before the server closes, while their streams can still send the final events. */
export default fp(async (app) => {
  const { store, clock, tools: host, fence, providers: registry, threads, brain, ledger, grants, usage, tasks, config } = app
  const { workspace, log } = app
  const agent = createAgent({
    store,
    clock,
    host,
    fence,
    registry,
    ledger,
    liveQuestions: app.liveQuestions,
    grants,
    usage,
    conversations: createConversationStates({ store, clock }),
    threads,
    tasks,
    config: () => config.current,
    memory: () => brain.promptText(),
    guides: app.folderGuides,
    machine: describeMachine(),
    workspace,
    log
  })
  app.decorate('agent', agent)
  app.addHook('onReady', agent.recover)
  app.addHook('preClose', app.shutdown.addPart('runs', agent.close))
}, { name: 'agent', dependencies: NEEDED })
