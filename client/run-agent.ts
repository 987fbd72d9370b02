import { createConversation, type Message } from './conversation.ts'
import { createClient, type Client } from './create-client.ts'
import { AgentError, requestError } from './errors.ts'
import type { FinishEvent, RunOptions, RunStreamEvent, RunTask, ToolApprovalRequestEvent } from './generated/index.ts'
import { readEvents } from './sse.ts'

/** Whether a tool call may run; the model gets the reason. */
export type Decision = boolean | { approved: boolean, reason?: string }

export interface RunAgentOptions {
  /** Address of the service; by default http://127.0.0.1:3001. */
  baseUrl?: string
  /** LOCAL_AGENT_TOKEN of the service, if it was started with one. */
  token?: string
  /** The conversation so far; the last message is the user's request. */
  messages: Message[]
  context?: { cwd?: string, [key: string]: unknown }
  /** Model, effort and limits of this run. */
  options?: RunOptions
  /** The thread to continue: `threadId` of an earlier result, or an id of your choice. */
  id?: string
  /** Called with every event of every stream of the run, in order. */
  onEvent?: (event: RunStreamEvent) => void
  /** Called for each tool call that needs approval, one after the other. */
  approve: (request: ToolApprovalRequestEvent) => Decision | Promise<Decision>
  /** An abort ends the run. */
  signal?: AbortSignal
}

export interface RunAgentResult {
  /** The answer: the text after the last tool call. */
  text: string
  /** The messages to append to the conversation. */
  messages: Message[]
  finishReason: FinishEvent['finishReason']
  /** The background task that the run created, if there is one. */
  task?: RunTask
  /** The id of the thread under which the service stores the conversation. */
  threadId: string
}

/** The result of one stream. */
interface StreamResult {
  threadId: string
  requests: ToolApprovalRequestEvent[]
  finish: FinishEvent
  task?: RunTask
}

/**
 * Runs the agent to the end: posts the conversation, reads the stream, calls `approve` for every tool call that needs
 * approval and continues the run with the decisions, until no approval is requested. No request is sent twice. Throws
 * AgentError when the service refuses a request, when the run fails or is ended and when a stream breaks off; throws the
 * signal's reason after an abort, and any error of `approve` and `onEvent`.
 */
export async function runAgent (
  { baseUrl = 'http://127.0.0.1:3001', token, messages, context, options, id, onEvent, approve, signal }: RunAgentOptions
): Promise<RunAgentResult> {
  const client = createClient({ baseUrl, auth: token })
  const conversation = createConversation()
  const handleEvent = (event: RunStreamEvent) => {
    conversation.add(event)
    onEvent?.(event)
  }

  let body = { messages, context, options, id }
  for (let url = '/run'; ; url = '/run/approve') {
    const { threadId, requests, finish, task } = await readStream(await post(client, url, body, signal), handleEvent, signal)
    if (requests.length === 0) {
      return {
        text: conversation.text,
        messages: conversation.messages,
        finishReason: finish.finishReason,
        threadId,
        ...(task && { task })
      }
    }
    const decisions: object[] = []
    for (const request of requests) decisions.push(response(request, await approve(request)))
    signal?.throwIfAborted()
    body = { ...body, messages: [...messages, ...conversation.messages, { role: 'tool', content: decisions }] }
  }
}

function response ({ approvalId }: ToolApprovalRequestEvent, decision: Decision) {
  return { type: 'tool-approval-response', approvalId, ...typeof decision === 'object' ? decision : { approved: decision } }
}

/** Sends one request without retries and returns the stream of its response. Throws AgentError when there is no stream. */
async function post (client: Client, url: string, body: object, signal?: AbortSignal): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const { data, error, response } = await client.post<{ 200: unknown }, unknown>({
    url,
    body,
    query: { protocol: 'documented' },
    signal,
    parseAs: 'stream',
    headers: { 'content-type': 'application/json' },
    security: [{ scheme: 'bearer', type: 'http' }]
  })
  signal?.throwIfAborted()
  if (error !== undefined) throw requestError(client.getConfig().baseUrl!, error, response)
  if (!response?.headers.get('content-type')?.startsWith('text/event-stream')) {
    throw requestError(client.getConfig().baseUrl!, undefined, response)
  }
  return data as ReadableStream<Uint8Array<ArrayBuffer>>
}

/** Reads one stream to its `finish` event. Throws AgentError when the run failed or the stream breaks off. */
async function readStream (
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  handleEvent: (event: RunStreamEvent) => void,
  signal?: AbortSignal
): Promise<StreamResult> {
  const requests: ToolApprovalRequestEvent[] = []
  let threadId = ''
  let task: RunTask | undefined
  let failure: AgentError | undefined
  for await (const event of readEvents<RunStreamEvent>(body, (cause) => signal?.aborted ? signal.reason : streamCut(cause))) {
    handleEvent(event)
    if (event.type === 'start') threadId = event.messageMetadata.threadId
    if (event.type === 'tool-approval-request') requests.push(event)
    if (event.type === 'data-task') task = event.data
    if (event.type === 'error') failure = new AgentError(event.errorText, { code: event.code })
    if (event.type === 'abort') failure = new AgentError(`The run was ended from outside: ${event.reason}.`, { code: 'ERR_RUN_ENDED' })
    if (event.type !== 'finish') continue
    if (failure !== undefined) throw failure
    return { threadId, requests, finish: event, task }
  }
  throw streamCut()
}

function streamCut (cause?: unknown) {
  return new AgentError('The stream broke off before the run was over. What it did until then is done, and nothing was sent again.', {
    code: 'ERR_STREAM_CUT',
    cause
  })
}
