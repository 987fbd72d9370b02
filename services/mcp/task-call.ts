import type { ToolProgress } from '../../schemas/tool-progress.ts'
import type { Clock } from '../lib/clock.ts'
import { withDeadline } from '../lib/deadline.ts'
import { ToolFailed } from '../tools/index.ts'

type Json = Record<string, unknown>

/** How long the server is to keep the result, milliseconds. */
const TTL_MS = 3_600_000
/** Bounds of the time between two looks at a task, and the time where the server names none; milliseconds. */
const SHORTEST_POLL_MS = 100
const LONGEST_POLL_MS = 10_000
const POLL_MS = 1_000
const CANCEL_MS = 5_000

interface Parts {
  request: (method: string, params: Json, signal: AbortSignal) => Promise<Json>
  clock: Clock
  signal: AbortSignal
  progress: (progress: ToolProgress) => void
}

/**
 * Calls a tool that its server runs only as a task (MCP 2025-11-25, experimental): begins the task, looks at it until it has ended and
 * returns its result. A change of its status counts as progress. Cancels the task when the signal aborts. Throws ToolFailed for a task
 * without a result.
 */
export async function callAsTask (params: Json, { request, clock, signal, progress }: Parts): Promise<Json> {
  const created = await request('tools/call', { ...params, task: { ttl: TTL_MS } }, signal)
  let task = created.task as Json | undefined
  if (typeof task?.taskId !== 'string') return created
  const { taskId } = task
  let status = ''
  try {
    for (let changes = 0; task.status === 'working'; task = await request('tasks/get', { taskId }, signal)) {
      const seen = `${task.statusMessage ?? ''}`
      if (seen !== status) progress({ progress: ++changes, message: status = seen })
      const { pollInterval } = task
      const ms = typeof pollInterval === 'number' ? Math.min(Math.max(pollInterval, SHORTEST_POLL_MS), LONGEST_POLL_MS) : POLL_MS
      await clock.sleep(ms, signal)
    }
    if (task.status === 'cancelled') throw new ToolFailed(`The tool server cancelled the call. ${task.statusMessage ?? ''}`.trim())
    // Also of a task that waits for input: the server asks for it on the way to the result.
    return await request('tasks/result', { taskId }, signal)
  } catch (error) {
    if (signal.aborted) withDeadline({ clock, ms: CANCEL_MS }, (limit) => request('tasks/cancel', { taskId }, limit)).catch(() => {})
    throw error
  }
}
