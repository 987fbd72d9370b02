export * from './generated/index.ts'
export { client } from './default-client.ts'
export { createClient, type Address, type Client } from './create-client.ts'
export { createAgent, type Agent, type AgentOptions, type FilePart } from './agent.ts'
export { AgentError } from './errors.ts'
export { runAgent, type RunAgentOptions, type RunAgentResult } from './run-agent.ts'
export type { AgentRun } from './run.ts'
export type {
  Decision,
  Execute,
  Handlers,
  Pending,
  RunRequest,
  RunResult as AgentResult,
  Tool,
  ToolContext,
  Tools
} from './run-types.ts'
export type { EventQuery, ServiceEvent } from './events.ts'
export type { ServeOptions } from './serve-tools.ts'
export type { FromSchema } from './json-schema.ts'
export type { Message } from './conversation.ts'
export { withoutDroppedTries } from './dropped-tries.ts'
