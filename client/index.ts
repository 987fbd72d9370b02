import { withOneError } from './create-client.ts'
import { client } from './generated/client.gen.ts'

export * from './generated/index.ts'
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
  ServerPrompt,
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

/** The client for the service's default address. The generated functions use it by default. */
const defaultClient = withOneError(client)
export { defaultClient as client }
