import fp from 'fastify-plugin'
import { createAgent, type Agent } from '../services/agent/agent.ts'
import { createConversationStates } from '../services/agent/conversation-state.ts'
import { describeMachine } from '../services/process/shell.ts'

declare module 'fastify' {
  interface FastifyInstance {
    agent: Agent
  }
}

const NEEDED = [
  ...['store', 'clock', 'shutdown', 'providers', 'tools', 'threadRepository', 'brain', 'ledger', 'engine', 'agents', 'tasks', 'stream'],
  'copies'
]

/** Conversations and their approvals. Their runs end before the server closes, so that the streams can still send the final events. */
export default fp(async (app) => {
  const { store, clock, engine, tools: host, providers: registry, threadRepository: threads, liveQuestions } = app
  const { agents, tasks, workspace } = app
  const agent = createAgent({
    ...engine,
    host,
    idempotency: app.idempotency,
    registry,
    liveQuestions,
    conversations: createConversationStates({ store, clock }),
    threads,
    answers: app.answers,
    agents,
    attachments: app.attachments,
    attachedFiles: app.attachedFiles,
    tasks,
    memory: app.toldMemory,
    guides: app.folderGuides,
    skills: app.skills,
    copies: app.copies,
    undo: app.undo,
    prompt: app.mcp.getPrompt,
    machine: describeMachine(),
    workspace
  })
  app.decorate('agent', agent)
  app.addHook('onReady', agent.recover)
  app.addHook('preClose', app.shutdown.addPart('runs', agent.close))
}, { name: 'agent', dependencies: NEEDED })
