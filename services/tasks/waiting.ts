import type { TaskApproval } from '../approvals/approval-record.ts'
import { inState } from '../approvals/approval-states.ts'
import type { Ledger } from '../approvals/ledger.ts'
import type { StoredRun, StoredTask } from './task-records.ts'

/** What a task waits for, by its open approvals. */
const waitingFields = (open: readonly TaskApproval[]): Pick<StoredTask, 'waitingFor' | 'waitsUntil'> =>
  open.length === 0
    ? {}
    : {
        waitingFor: open.map(({ kind, approvalId }) => ({ kind, id: approvalId })),
        waitsUntil: Math.min(...open.map(({ expiresAt }) => expiresAt))
      }

/**
 * Returns the changed task with what it waits for, and the approvals to store with it: the `changed` ones, and those that its
 * runs leave behind. An open request of a run that no longer waits is withdrawn, a result denied; a call that was executing
 * when its run ended has an unknown outcome.
 */
export async function settleApprovals (
  ledger: Ledger,
  { task: { waitingFor: before = [], waitsUntil, ...task }, runs, live, changed }: {
    task: StoredTask,
    runs: readonly StoredRun[],
    live: StoredRun | undefined,
    changed: readonly TaskApproval[]
  }
): Promise<{ task: StoredTask, approvals: TaskApproval[] }> {
  const asked = live?.status === 'pending_approval' ? live.asked ?? [] : []
  const ended = new Set(runs.filter(({ completedAt }) => completedAt !== undefined).flatMap((run) => run.asked ?? []))
  const known = new Map(changed.map((item) => [item.approvalId, item]))
  const ids = [...new Set([...asked, ...before.map(({ id }) => id), ...ended])].filter((id) => !known.has(id))
  const items = [...await ledger.ofTask(ids), ...changed]
  const open = items.filter(({ approvalId, state }) => state === 'pending' && asked.includes(approvalId))
  const left = items.filter((item) =>
    (item.state === 'pending' && !open.includes(item)) || (item.state === 'executing' && ended.has(item.approvalId))
  )
  const closed = left.map((item) =>
    item.kind === 'result' ? inState(item, 'denied') : inState(item, item.state === 'executing' ? 'unknown' : 'withdrawn')
  )
  return {
    task: { ...task, ...waitingFields(open) },
    approvals: [...changed.filter((item) => !left.includes(item)), ...closed]
  }
}
