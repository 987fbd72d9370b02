import { pause, pauseBefore } from './backoff.ts'
import type { Client } from './create-client.ts'
import { AgentError, isCut } from './errors.ts'
import type { AppTool, Execute, Tool, ToolContext } from './run-types.ts'

export interface ToolCall {
  toolCallId: string
  toolName: string
  input: unknown
  expiresAt?: number
}

/** The interval at which a claim is renewed, in milliseconds. A claim expires after 60 s. */
const RENEWAL_MS = 20_000
/** The longest error message that the service accepts, in characters. */
const LONGEST_ERROR = 16_000
/**
 * How often a claim or a result is sent again after a lost connection. The attempts take about a minute, which is as long as a claim lasts.
 */
const ATTEMPTS = 12

/** Returns the definitions of tools, for `options.appTools`. */
export const definitionsOf = (tools: Record<string, Tool>): AppTool[] =>
  Object.entries(tools).map(([name, { execute, ...tool }]) => ({ name, ...tool }))

/**
 * Claims a call, executes it and sends its result. Renews the claim during the execution. Returns false if another instance has the call,
 * or if the call was withdrawn. Claims and results are sent again after a lost connection, because the service accepts the same one twice.
 * Throws AgentError if the result cannot be sent, and the signal's reason after an abort.
 */
export async function executeCall (
  client: Client,
  { toolCallId, toolName, input, expiresAt }: ToolCall,
  tool: Tool | Execute,
  { instance, signal }: { instance: string, signal?: AbortSignal }
): Promise<boolean> {
  const once = (body: object) => post(client, `/tool-calls/${encodeURIComponent(toolCallId)}`, { claim: instance, ...body })
  const send = async (body: object) => {
    for (let attempt = 0; ; attempt++) {
      try {
        return await once(body)
      } catch (error) {
        if (!isCut(error) || attempt >= ATTEMPTS) throw error
        await pause(pauseBefore(attempt), signal)
      }
    }
  }
  signal?.throwIfAborted()
  if (!await send({})) return false
  signal?.throwIfAborted()

  const over = new AbortController()
  const stop = () => over.abort(signal!.reason)
  signal?.addEventListener('abort', stop)
  const { execute, timeoutMs = Infinity } = typeof tool === 'function' ? { execute: tool } : tool
  const ms = Math.min(timeoutMs, (expiresAt ?? Infinity) - Date.now())
  const timer = ms < 2 ** 31 ? setTimeout(() => over.abort(new Error(`${toolName} took longer than ${Math.round(ms)} ms.`)), ms) : undefined
  const lost = new AgentError('Another instance of the application has this call.', { code: 'ERR_CLAIM_LOST' })
  const renewal = setInterval(() => {
    // A failed renewal is sent again at the next interval. The claim might still hold until then.
    once({}).then((held) => held || over.abort(lost), () => {})
  }, RENEWAL_MS)
  try {
    const result = await outcome(execute, input, { toolCallId, toolName, signal: over.signal })
    signal?.throwIfAborted()
    if (over.signal.reason === lost) return false
    return await send(result).catch((error) => {
      if (!isRefusedOutput(error)) throw error
      return send({ error: error.message.slice(0, LONGEST_ERROR) })
    })
  } finally {
    clearTimeout(timer)
    clearInterval(renewal)
    signal?.removeEventListener('abort', stop)
    over.abort()
  }
}

async function outcome (execute: Execute, input: unknown, context: ToolContext): Promise<{ output: object } | { error: string }> {
  const { signal } = context
  const ended = new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  ended.catch(() => {})
  try {
    const output = await Promise.race([execute(input, context), ended])
    // Throws for a value that JSON cannot represent, such as a cycle, so that it counts as an error of the tool.
    JSON.stringify(output)
    return { output: typeof output === 'object' && output !== null && !Array.isArray(output) ? output : { result: output ?? null } }
  } catch (error) {
    const text = error instanceof Error && error.message !== '' ? error.message : String(error)
    return { error: text.slice(0, LONGEST_ERROR) || 'The tool failed.' }
  }
}

/** Returns true if the service refuses an output, because it is too large or is not valid. */
const isRefusedOutput = (error: unknown): error is AgentError =>
  error instanceof AgentError && (error.statusCode === 400 || error.statusCode === 413)

/** Sends a claim or a result. Returns false for 404, 409 and 410: another instance has the call, or the call no longer waits. */
async function post (client: Client, url: string, body: object): Promise<boolean> {
  const { error } = await client.post({ url, body, security: [{ scheme: 'bearer', type: 'http' }], throwOnError: false })
  if (error === undefined) return true
  if (error instanceof AgentError && [404, 409, 410].includes(error.statusCode ?? 0)) return false
  throw error
}
