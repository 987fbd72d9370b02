import { definitionsOf } from './app-tools.ts'
import { createClient, DEFAULT_URL, type Address, type Client } from './create-client.ts'
import { followEvents, type EventQuery, type ServiceEvent } from './events.ts'
import type { FromSchema } from './json-schema.ts'
import { addAttachment, decideApproval, type Answers, type ApprovalDecision, type DecidedApproval } from './generated/index.ts'
import { createAgentRun, type AgentRun } from './run.ts'
import type { Decision, Handlers, RunRequest } from './run-types.ts'
import { serveTools, type ServeOptions } from './serve-tools.ts'

export interface AgentOptions {
  /** The address of the service, or a function that returns its current address; by default http://127.0.0.1:3001. */
  url?: Address
  /** The token of the service (LOCAL_AGENT_TOKEN), if it has one. */
  token?: string
  /** The name of the application that executes the tools of its runs. */
  app?: string
  /** Used instead of the global `fetch`. */
  fetch?: typeof fetch
}

/** A file part of a chat message. A ModelMessage has `data` instead of `url`. */
export interface FilePart {
  type: 'file'
  url: string
  mediaType: string
  filename?: string
}

export interface Agent {
  /** The client to pass to the generated functions: `health({ client: agent.client })`. */
  client: Client
  /**
   * Returns a run that starts when its events or its result are first read. The request is sent once; with an `idempotencyKey` the client
   * might send it again after a failure.
   */
  run<const S = unknown> (request: RunRequest<S>): AgentRun<FromSchema<S>>
  /** Stores a file, and returns the message part that refers to it. */
  attach (file: Blob, options?: { name?: string }): Promise<FilePart>
  /** Reads the active or waiting run of a thread, or the run with this id. The handlers answer its requests. */
  resume<T = unknown> (id: string, handlers?: Handlers): AgentRun<T>
  /** Decides an approval of any conversation or task. The run continues even without a reader; `resume` reads it. */
  decide (approvalId: string, decision: Decision): Promise<DecidedApproval>
  /** Answers questions of any conversation or task; `false` declines them. */
  answer (approvalId: string, answers: Answers | false): Promise<DecidedApproval>
  /** Yields the events of the service, also across restarts of the service. */
  events (query?: EventQuery): AsyncGenerator<ServiceEvent>
  /**
   * Executes the calls of the tools of `app` that tasks make, until the signal aborts. Calls of conversations are executed by `run` with
   * its own `tools`.
   */
  serveTools (options: ServeOptions): Promise<void>
}

/**
 * Creates an agent for the service at an address. If `url` is a function, the agent follows the service to a new address: events, runs and
 * tool calls continue there. All its methods fail with AgentError.
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
/** Pages of insecure origins have no `crypto.randomUUID`. */
const newInstanceId = () => Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, '0')).join('')
