import type { Message } from './conversation.ts'
import { createClient, DEFAULT_URL } from './create-client.ts'
import type { RunOptions, RunStreamEvent } from './generated/index.ts'
import { createAgentRun } from './run.ts'
import type { Decision, Handlers, RunResult } from './run-types.ts'

export interface RunAgentOptions {
  /** The address of the service; by default http://127.0.0.1:3001. */
  baseUrl?: string
  /** The token of the service (LOCAL_AGENT_TOKEN), if it has one. */
  token?: string
  /** The conversation so far; the last message is the user's request. */
  messages: Message[]
  /** The working folder for relative paths and commands; by default, the workspace of the service. */
  cwd?: string
  /** Model, effort and limits of this run. */
  options?: RunOptions
  /** The thread to continue: `threadId` of an earlier result, or an id of your choice. */
  id?: string
  /** Called for every event of the run, in order. */
  onEvent?: (event: RunStreamEvent) => void
  /** Called for each tool call that needs approval, one after the other. */
  approve: NonNullable<Handlers['approve']>
  /** An abort ends the run. */
  signal?: AbortSignal
}

export type { Decision }
export type RunAgentResult = RunResult

/**
 * Runs the agent to the end in one call. It is `createAgent().run(…)` without a loop, for a run that ends when its reader disconnects. No
 * request is sent twice. Throws AgentError if the service refuses a request, if the run fails or is ended, and if a stream breaks off.
 * Throws the signal's reason after an abort, and any error of `approve` and `onEvent`.
 */
export async function runAgent (
  { baseUrl = DEFAULT_URL, token, messages, cwd, options, id, onEvent, approve, signal }: RunAgentOptions
): Promise<RunAgentResult> {
  const client = createClient({ baseUrl, auth: token })
  const begin = { body: { messages, cwd, options, id } }
  return createAgentRun({ client, instance: 'run-agent', approve, onEvent, signal, resumable: false, begin }).result()
}
