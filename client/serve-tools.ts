import { executeCall } from './app-tools.ts'
import { pause, pauseBefore } from './backoff.ts'
import type { Client } from './create-client.ts'
import { isRefusal } from './errors.ts'
import { followEvents } from './events.ts'
import { listToolCalls, type ToolCall } from './generated/index.ts'
import type { Execute, Tool, Tools } from './run-types.ts'

export interface ServeOptions {
  /** The functions that execute the calls, by tool name. The tools passed to `run` may be passed here unchanged. */
  tools: Tools
  /** Restricts this to calls of one task. */
  taskId?: string
  /** Stops serving. Running calls are aborted, and their outcome is then unknown. */
  signal?: AbortSignal
  /** Called if the result of a call could not be sent. The outcome of the call is then unknown. */
  onError?: (error: unknown, call: ToolCall) => void
}

/**
 * Executes calls of the application's tools that tasks make, until the signal aborts: open calls and new ones, also across restarts of the
 * service. Each call is claimed first, so that only one of several instances executes it. Throws AgentError if the service refuses to list
 * the calls.
 */
export async function serveTools (
  client: Client,
  { tools, taskId, signal, onError }: ServeOptions,
  { app, instance }: { app?: string, instance: string }
): Promise<void> {
  const over = new AbortController()
  const ended = signal === undefined ? over.signal : AbortSignal.any([over.signal, signal])
  const taken = new Set<string>()
  let looking: Promise<void> | undefined
  let isStale = false

  function take (call: ToolCall, tool: Tool | Execute) {
    taken.add(call.toolCallId)
    executeCall(client, call, tool, { instance, signal: ended })
      .catch((error) => ended.aborted || onError?.(error, call))
      .finally(() => taken.delete(call.toolCallId))
  }

  async function takeAll () {
    let cursor: string | undefined
    do {
      const query = { state: 'open', app, taskId, cursor } as const
      const { data } = await listToolCalls({ client, query, signal: ended, throwOnError: true })
      for (const call of data.toolCalls) {
        const isOurs = call.taskId !== undefined && call.app === app && Object.hasOwn(tools, call.toolName)
        if (isOurs && !taken.has(call.toolCallId)) take(call, tools[call.toolName])
      }
      cursor = data.nextCursor
    } while (cursor !== undefined)
  }

  /** Lists the open calls again until the list is newer than the newest event. */
  async function lookAgain () {
    for (let attempt = 0; isStale && !ended.aborted; attempt++) {
      isStale = false
      try {
        await takeAll()
      } catch (error) {
        if (isRefusal(error)) throw error
        isStale = true
        await pause(pauseBefore(attempt), ended)
      }
    }
  }

  function look () {
    isStale = true
    looking ??= lookAgain()
      .catch((error) => over.abort(error))
      .finally(() => {
        looking = undefined
        if (isStale && !ended.aborted) look()
      })
  }

  const events = followEvents(client, { types: ['tool-call:open'], signal: ended, taskId }, look)
  try {
    while (!(await events.next()).done) look()
  } finally {
    over.abort()
    await looking
  }
  if (!signal?.aborted) throw over.signal.reason
}
