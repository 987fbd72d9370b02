import { isUnanswered, type TaskItem } from '../contracts/approval-record.ts'
import { inState } from '../contracts/approval-states.ts'
import type { Ledger } from '../approvals/index.ts'
import type { StoredRun, StoredTask } from './task-records.ts'

/** What a task waits for, by its open items. Calls of the application have a time limit of their own, which ends no run. */
function waitingFields (open: readonly TaskItem[]): Pick<StoredTask, 'waitingFor' | 'waitsUntil'> {
  if (open.length === 0) return {}
  const waitsUntil = Math.min(...open.flatMap(({ kind, expiresAt }) => kind === 'app' ? [] : [expiresAt]))
  return {
    waitingFor: open.map(({ kind, approvalId }) => ({ kind, id: approvalId })),
    ...(waitsUntil < Infinity && { waitsUntil })
  }
}

/** Returns what becomes of an item that its run leaves behind. */
function leftBehind (item: TaskItem): TaskItem {
  switch (item.kind) {
    case 'result':
      return inState(item, 'denied')
    case 'tool':
      return inState(item, item.state === 'executing' ? 'unknown' : 'withdrawn')
    case 'question':
    case 'app':
      return inState(item, 'withdrawn')
  }
}

/**
 * Returns the changed task with what it waits for, and the approvals to store with it: the `changed` ones, and those that its
 * runs leave behind. An open item of a run that no longer waits is withdrawn, a result denied; a call that was executing
 * when its run ended has an unknown outcome.
 */
export async function settleApprovals (
  ledger: Ledger,
  { task: { waitingFor: before = [], waitsUntil, ...task }, runs, live, changed }: {
    task: StoredTask,
    runs: readonly StoredRun[],
    live: StoredRun | undefined,
    changed: readonly TaskItem[]
  }
): Promise<{ task: StoredTask, approvals: TaskItem[] }> {
  const asked = live?.status === 'pending_approval' ? live.asked : []
  const ended = new Set(runs.filter(({ completedAt }) => completedAt !== undefined).flatMap((run) => run.asked))
  const known = new Map(changed.map((item) => [item.approvalId, item]))
  const ids = [...new Set([...asked, ...before.map(({ id }) => id), ...ended])].filter((id) => !known.has(id))
  const items = [...await ledger.ofTask(ids), ...changed]
  const open = items.filter((item) => isUnanswered(item) && asked.includes(item.approvalId))
  const left = items.filter((item) =>
    (isUnanswered(item) && !open.includes(item)) || (item.state === 'executing' && ended.has(item.approvalId))
  )
  return {
    task: { ...task, ...waitingFields(open) },
    approvals: [...changed.filter((item) => !left.includes(item)), ...left.map(leftBehind)]
  }
}
