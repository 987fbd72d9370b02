import type { ServiceEvent } from '../../../client/events.ts'
import { keys, queries } from '../queries.ts'

/** Events of this time are collected, and what they invalidate is read again once; ms. */
const COLLECT_MS = 250

/** Returns the keys of what an event may have changed. */
export function keysOf (event: ServiceEvent): string[][] {
  const { type, runId, threadId, taskId } = event as { type: string, runId?: string, threadId?: string, taskId?: string }
  const ofRun = runId === undefined ? [] : [keys.run(runId), keys.changes(runId)]
  const owner = threadId !== undefined ? [keys.thread(threadId)] : taskId !== undefined ? [keys.task(taskId)] : []
  const [topic] = type.split(':')
  if (topic === 'approval') return [keys.approvals(), keys.digest(), keys.grants(), ...ofRun, ...owner]
  if (topic === 'tool-call') return [keys.toolCalls(), keys.digest(), ...ofRun, ...owner]
  if (topic === 'run') return [keys.runs(), keys.digest(), keys.usage(), keys.threads(), keys.brain(), ...ofRun, ...owner]
  return [keys.tasks(), keys.digest(), ...ofRun, ...owner]
}

/** Creates the function that invalidates what events change. A burst of events reads each thing once, not once for each event. */
export function createInvalidator () {
  let collected = new Map<string, string[]>()
  let timer: ReturnType<typeof setTimeout> | undefined
  const flush = () => {
    timer = undefined
    const all = [...collected.values()]
    collected = new Map()
    for (const queryKey of all) void queries.invalidateQueries({ queryKey })
  }
  return (event: ServiceEvent) => {
    if (event.type === 'reset') return void queries.invalidateQueries()
    for (const key of keysOf(event)) collected.set(key.join(' '), key)
    timer ??= setTimeout(flush, COLLECT_MS)
  }
}
