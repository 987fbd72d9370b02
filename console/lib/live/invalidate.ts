import type { ServiceEvent } from '../../../client/events.ts'
import type { ApprovalList } from '../../../client/generated/index.ts'
import { keys, queries } from '../queries.ts'

/** How long events are collected before the queries that they invalidate are read again, in milliseconds. */
const COLLECT_MS = 250

const WITHIN_RUN = new Set(['task:tool-start', 'task:tool', 'task:phase', 'task:eval'])

/** Returns the query keys of the data that an event might have changed. */
function keysOf (event: ServiceEvent): string[][] {
  const { type, runId, threadId, taskId } = event as { type: string, runId?: string, threadId?: string, taskId?: string }
  const ofRun = runId === undefined ? [] : [keys.run(runId), keys.changes(runId)]
  const owner = threadId !== undefined ? [keys.thread(threadId)] : taskId !== undefined ? [keys.task(taskId)] : []
  const [topic] = type.split(':')
  if (topic === 'approval') return [keys.approvals(), keys.previews(), keys.digest(), keys.grants(), ...ofRun, ...owner]
  if (topic === 'tool-call') return [keys.toolCalls(), keys.digest(), ...ofRun, ...owner]
  if (topic === 'memory') return [keys.brain()]
  if (topic === 'agent') return [keys.agents()]
  if (topic === 'config') return [keys.config(), keys.providers()]
  if (topic === 'thread') return [keys.threads(), keys.pinned(), keys.runs(), keys.usage()]
  if (topic === 'run') return [keys.runs(), keys.commands(), keys.digest(), keys.usage(), keys.threads(), keys.brain(), ...ofRun, ...owner]
  // These events report progress within a run; its task does not change.
  if (WITHIN_RUN.has(type)) return ofRun
  return [keys.tasks(), keys.digest(), ...ofRun, ...owner]
}

/** Removes closed approvals from the page first: their preview and their task might be deleted too, and must not be read again. */
async function removeClosed (ids: Set<string>) {
  queries.setQueryData<ApprovalList>(
    keys.approvals(),
    (list) => list && { ...list, approvals: list.approvals.filter(({ approvalId }) => !ids.has(approvalId)) }
  )
  // Lets the page draw the change before anything is read again.
  await new Promise((resolve) => { setTimeout(resolve) })
}

/**
 * Creates the function that invalidates the queries that events change. A burst of events invalidates each query once. The next round
 * begins when the last one has ended, so that a long burst cannot restart the same read forever.
 */
export function createInvalidator () {
  let collected = new Map<string, string[]>()
  let closed = new Set<string>()
  let timer: ReturnType<typeof setTimeout> | undefined
  const flush = async () => {
    const [all, gone] = [collected, closed]
    collected = new Map()
    closed = new Set()
    if (gone.size > 0) await removeClosed(gone)
    // A key also covers all keys that begin with it.
    const read = [...all.values()].filter(([topic, id]) => id === undefined || !all.has(topic))
    await Promise.all(read.map((queryKey) => queries.invalidateQueries({ queryKey })))
    timer = collected.size > 0 ? setTimeout(flush, COLLECT_MS) : undefined
  }
  return (event: ServiceEvent) => {
    if (event.type === 'reset') return void queries.invalidateQueries()
    if (event.type === 'approval:closed') closed.add(event.approvalId)
    for (const key of keysOf(event)) collected.set(key.join(' '), key)
    timer ??= setTimeout(flush, COLLECT_MS)
  }
}
