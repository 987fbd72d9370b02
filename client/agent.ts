import { definitionsOf } from './app-tools.ts'
import { createClient, DEFAULT_URL, type Address, type Client } from './create-client.ts'
import { followEvents, type EventQuery, type ServiceEvent } from './events.ts'
import type { FromSchema } from './json-schema.ts'
import { addAttachment, decideApproval, type Answers, type ApprovalDecision, type DecidedApproval } from './generated/index.ts'
import { createAgentRun, type AgentRun } from './run.ts'
import type { Decision, Handlers, RunRequest } from './run-types.ts'
import { serveTools, type ServeOptions } from './serve-tools.ts'

export interface AgentOptions {
  /** Address of the service, or a function that returns the one that it has now; by default http://127.0.0.1:3001. */
  url?: Address
  /** LOCAL_AGENT_TOKEN of the service, if it was started with one. */
  token?: string
  /** Names the application whose tools runs are given. */
  app?: string
  /** In place of the global function. */
  fetch?: typeof fetch
}

/** A part of a chat's message; a ModelMessage has `data` in place of `url`. */
export interface FilePart {
  type: 'file'
  url: string
  mediaType: string
  filename?: string
}

export interface Agent {
  /** For the generated functions: `health({ client: agent.client })`. */
  client: Client
  /** Starts a run when its events or its result are first read. The request is sent once, unless it has an `idempotencyKey`. */
  run<const S = unknown> (request: RunRequest<S>): AgentRun<FromSchema<S>>
  /** Stores a file, and returns the part by which a message names it. */
  attach (file: Blob, options?: { name?: string }): Promise<FilePart>
  /** Reads the active or waiting run of a thread, or the run of that id, and deals with what it asks for. */
  resume<T = unknown> (id: string, handlers?: Handlers): AgentRun<T>
  /** Decides an approval of any conversation or task. The run goes on without a reader; `resume` reads it. */
  decide (approvalId: string, decision: Decision): Promise<DecidedApproval>
  /** Answers questions of any conversation or task; `false` declines them. */
  answer (approvalId: string, answers: Answers | false): Promise<DecidedApproval>
  /** Follows what happens in the service, also over restarts of it. */
  events (query?: EventQuery): AsyncGenerator<ServiceEvent>
  /** Executes the calls that tasks make of the tools of `app`, until the signal aborts. Runs execute those of their own `tools`. */
  serveTools (options: ServeOptions): Promise<void>
}

/**
 * Creates an agent that runs in the service at an address. With a function for the address it follows a service that gets another
 * one: what reads events, runs and calls of tools goes on there. Every failure of its methods is an AgentError.
 */
export function createAgent ({ url = DEFAULT_URL, token, app, fetch }: AgentOptions = {}): Agent {
  const client = createClient({ baseUrl: url, auth: token, ...(fetch && { fetch }) })
  const instance = `${app ?? 'app'}-${newInstanceId()}`
  const decide = async (approvalId: string, body: ApprovalDecision) =>
    (await decideApproval({ client, path: { id: approvalId }, body, throwOnError: true })).data

  return {
    client,
    run ({ approve, ask, tools, signal, schema, prompt, agent, options, resumable = true, idempotencyKey: key, ...request }) {
      const body = {
        ...request,
        ...typeof prompt === 'object' && { prompt },
        ...typeof prompt === 'string' &&
          (request.id === undefined ? { messages: [userMessage(prompt)] } : { message: userMessage(prompt) }),
        options: {
          ...agent !== undefined && { agent },
          ...ask && { interactive: true },
          ...schema !== undefined && { object: { schema } },
          ...tools && { appTools: definitionsOf(tools), ...app !== undefined && { app } },
          ...options
        }
      }
      return createAgentRun({ client, instance, approve, ask, tools, signal, resumable, begin: { body, key } })
    },
    async attach (file, { name } = {}) {
      const named = name !== undefined && { 'x-filename': encodeURIComponent(name) }
      const headers = { 'content-type': file.type || 'application/octet-stream', ...named }
      const { data } = await addAttachment({ client, headers, body: file, throwOnError: true })
      return { type: 'file', url: data.url, mediaType: data.mediaType, ...name !== undefined && { filename: name } }
    },
    resume: (id, handlers) => createAgentRun({ ...handlers, client, instance, resumable: true, begin: { follow: id } }),
    decide: (approvalId, decision) => decide(approvalId, typeof decision === 'object' ? decision : { approved: decision }),
    answer: (approvalId, answers) => decide(approvalId, answers === false ? { approved: false } : { answers }),
    events: (query = {}) => followEvents(client, query),
    serveTools: (options) => serveTools(client, options, { app, instance })
  }
}

const userMessage = (content: string) => ({ role: 'user', content })
/** Pages of insecure origins have no crypto.randomUUID. */
const newInstanceId = () => Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, '0')).join('')
