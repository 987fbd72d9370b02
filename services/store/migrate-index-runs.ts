import type { Migration, Op } from './store-types.ts'

// Schema 3 had no list of all runs. Schema 4 indexes every run by its state, and keeps a short record of each run of a conversation.
// The shapes and values below are those of the two schemas; they do not follow later changes of the code.

interface OldTaskRun {
  taskId: string
  runId: string
  runNumber: number
  status: string
}
interface OldHead {
  runId: string
  threadId: string
  createdAt: number
  updatedAt: number
  asked?: string[]
  options?: object
  usage: { inputTokens: number, outputTokens: number }
  end?: { status: string, at: number }
}
interface OldEvent {
  type: string
  toolCallId?: string
  toolName?: string
  input?: unknown
  output?: unknown
  errorText?: string
  reason?: string
  delta?: string
  finishReason?: string
}
interface OldCall {
  id: string
  tool: string
  input: unknown
  status: string
  output?: unknown
  error?: string
}

/** Operations in one batch. */
const BATCH = 100
/** Characters of each tool input and output in a record. */
const SHOWN = 2_000
const LIVE = ['queued', 'running', 'pending_approval']

export const indexRuns: Migration = {
  to: 4,
  async * migrate (data) {
    const ops: Op[] = []
    for await (const [, { taskId, runId, runNumber, status }] of data.list<OldTaskRun>('task-run/')) {
      ops.push(entry(status, runId, { taskId, runNumber }))
      if (ops.length >= BATCH) yield ops.splice(0)
    }
    // Clients choose the ids of threads, so the keys hold digests: `thread-run/<digest>/<run>`.
    for await (const [key] of data.list<object>('thread-run/')) {
      const [, thread, runId] = key.split('/')
      const head = await data.get<OldHead>(`run/${runId}`)
      if (head === undefined) continue
      const events: OldEvent[] = []
      for await (const [, chunk] of data.list<OldEvent[]>(`run/${runId}/`)) events.push(...chunk)
      const record = recordOf(head, events)
      ops.push({ type: 'put', key: `chat-run/${thread}/${runId}`, value: record }, entry(record.status, runId, { thread }))
      if (ops.length >= BATCH) yield ops.splice(0)
    }
    yield ops
  }
}

const entry = (status: string, runId: string, place: object): Op => ({
  type: 'put',
  key: `run-state/${LIVE.includes(status) ? 'live' : status}/${runId}`,
  value: place
})

function recordOf ({ runId, threadId, createdAt, updatedAt, asked = [], options, usage, end }: OldHead, events: OldEvent[]) {
  const status = end?.status ?? statusOf(events)
  const completedAt = end?.at ?? updatedAt
  const isOver = !LIVE.includes(status)
  const toolCalls = callsOf(events)
  const output = events.slice(events.findLastIndex(({ type }) => type === 'step-start') + 1)
    .map(({ type, delta = '' }) => type === 'text-delta' ? delta : '').join('')
  const error = isOver && status !== 'completed' ? events.findLast(({ type }) => type === 'error')?.errorText : undefined
  return {
    ...{ runId, id: runId, threadId, trigger: 'message', status, queuedAt: createdAt, startedAt: createdAt },
    ...(isOver && { completedAt, durationMs: Math.max(completedAt - createdAt, 0) }),
    ...(output !== '' && { output }),
    ...(error !== undefined && { error }),
    ...{ toolCalls, toolCount: toolCalls.length, steering: [] },
    usage: { cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0, ...usage },
    ...(options && { options }),
    attempts: 1,
    ...(status === 'pending_approval' && { asked })
  }
}

/** A run without a last event was cut by the end of the service. */
function statusOf (events: OldEvent[]): string {
  const last = events.at(-1)
  if (last?.type !== 'finish') return 'interrupted'
  if (last.finishReason === 'error') return 'failed'
  if (last.finishReason === 'tool-calls') return 'pending_approval'
  return last.finishReason === 'other' ? 'cancelled' : 'completed'
}

function callsOf (events: OldEvent[]): OldCall[] {
  const calls = new Map<string, OldCall>()
  for (const { type, toolCallId = '', toolName = '', input, output, errorText, reason } of events) {
    const call = calls.get(toolCallId)
    if (type === 'tool-input') calls.set(toolCallId, { id: toolCallId, tool: toolName, input: shorten(input), status: 'pending' })
    if (type === 'tool-input-error') {
      calls.set(toolCallId, { id: toolCallId, tool: toolName, input: shorten(input), status: 'error', error: errorText })
    }
    if (type === 'tool-output') Object.assign(call ?? {}, { output: shorten(output), status: 'complete' })
    if (type === 'tool-error') Object.assign(call ?? {}, { error: errorText, status: 'error' })
    if (type === 'tool-denied') Object.assign(call ?? {}, { error: reason, status: 'denied' })
  }
  return [...calls.values()]
}

function shorten (value: unknown): unknown {
  const json = JSON.stringify(value) ?? ''
  return json.length <= SHOWN ? value : `${json.slice(0, SHOWN)}…`
}
