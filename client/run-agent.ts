import { createConversation, type Message } from './conversation.ts'
import { createClient, type Client } from './create-client.ts'
import { AgentError, requestError } from './errors.ts'
import type { FinishEvent, RunStreamEvent, RunTask, ToolApprovalRequestEvent } from './generated/index.ts'
import { readEvents } from './sse.ts'

/** Whether a tool call may run; the reason is told to the model. */
export type Decision = boolean | { approved: boolean, reason?: string }

export interface RunAgentOptions {
  /** Default http://127.0.0.1:3001. */
  baseUrl?: string
  /** LOCAL_AGENT_TOKEN of the service, if it was started with one. */
  token?: string
  /** The conversation so far; the last message is what the user says. */
  messages: Message[]
  context?: { cwd?: string, [key: string]: unknown }
  /** The thread to go on with: `threadId` of an earlier result, or a name of your own. */
  id?: string
  /** Gets every event of every stream of the run, in order. */
  onEvent?: (event: RunStreamEvent) => void
  /** Asked about each tool call that needs a person's word, one after the other. */
  approve: (request: ToolApprovalRequestEvent) => Decision | Promise<Decision>
  /** Ends the run when it is aborted. */
  signal?: AbortSignal
}

export interface RunAgentResult {
  /** The answer: what was said after the last tool call. */
  text: string
  /** The messages to add to the conversation. */
  messages: Message[]
  finishReason: FinishEvent['finishReason']
  /** The background task that was made of the request, if one was. */
  task?: RunTask
  /** The thread that the service keeps of the conversation. */
  threadId: string
}

/** What one stream said. */
interface Stream {
  threadId: string
  requests: ToolApprovalRequestEvent[]
  finish: FinishEvent
  task?: RunTask
}

/**
 * Runs the agent to the end: posts the conversation, reads the stream, asks `approve` about every tool call that needs
 * it and goes on with the answers, until nothing is asked any more. No request is ever sent twice. Throws AgentError
 * for what the service refuses, for a run that fails or is ended, and for a stream that breaks off; the signal's reason
 * when it is aborted; and whatever `approve` and `onEvent` throw.
 */
export async function runAgent (
  { baseUrl = 'http://127.0.0.1:3001', token, messages, context, id, onEvent, approve, signal }: RunAgentOptions
): Promise<RunAgentResult> {
  const client = createClient({ baseUrl, auth: token })
  const conversation = createConversation()
  const take = (event: RunStreamEvent) => {
    conversation.add(event)
    onEvent?.(event)
  }

  let body = { messages, context, id }
  for (let url = '/run'; ; url = '/run/approve') {
    const { threadId, requests, finish, task } = await readStream(await post(client, url, body, signal), take, signal)
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

/** Sends one request, once, and gives the stream that answers it. */
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

/** Reads one stream to its `finish`. */
async function readStream (
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  take: (event: RunStreamEvent) => void,
  signal?: AbortSignal
): Promise<Stream> {
  const requests: ToolApprovalRequestEvent[] = []
  let threadId = ''
  let task: RunTask | undefined
  let failure: AgentError | undefined
  for await (const event of readEvents<RunStreamEvent>(body, (cause) => signal?.aborted ? signal.reason : cut(cause))) {
    take(event)
    if (event.type === 'start') threadId = event.messageMetadata.threadId
    if (event.type === 'tool-approval-request') requests.push(event)
    if (event.type === 'data-task') task = event.data
    if (event.type === 'error') failure = new AgentError(event.errorText, { code: event.code })
    if (event.type === 'abort') failure = new AgentError(`The run was ended from outside: ${event.reason}.`, { code: 'ERR_RUN_ENDED' })
    if (event.type !== 'finish') continue
    if (failure !== undefined) throw failure
    return { threadId, requests, finish: event, task }
  }
  throw cut()
}

function cut (cause?: unknown) {
  return new AgentError('The stream broke off before the run was over. What it did until then is done, and nothing was sent again.', {
    code: 'ERR_STREAM_CUT',
    cause
  })
}
