import type { Slot } from '../../../schemas/schedule.ts'
import type { RunStatus } from '../../../schemas/tasks.ts'
import type { Op } from '../../store/store-types.ts'
import type { StoredRun } from '../task-records.ts'

/** How things came out, for those who were away: runs by their end, and planned times without one. */
export type OutcomeKind = 'completed' | 'failed' | 'stopped' | 'notRun'

/** Points at a run, or holds a planned time that became none. */
export type RunOutcome = { taskId: string, runNumber: number }
export type SlotOutcome = { taskId: string, slot: Slot }

const KINDS: Partial<Record<RunStatus, OutcomeKind>> = {
  completed: 'completed',
  failed: 'failed',
  rejected: 'stopped',
  cancelled: 'stopped',
  interrupted: 'stopped'
}

export const outcomePrefix = (kind: OutcomeKind) => `task-past/${kind}/`
const pastKey = (kind: OutcomeKind, at: number, id: string) => `${outcomePrefix(kind)}${String(at).padStart(16, '0')}-${id}`

/** When the entry under that key came to be. */
export const outcomeTime = (kind: OutcomeKind, key: string) =>
  Number(key.slice(outcomePrefix(kind).length, outcomePrefix(kind).length + 16))

/** Keeps or forgets how a run ended, in the order of time; nothing while it has not. */
export function outcomeOfRun (
  type: Op['type'],
  { taskId, runId, runNumber, status, completedAt }: Pick<StoredRun, 'taskId' | 'runId' | 'runNumber' | 'status' | 'completedAt'>
): Op[] {
  const kind = KINDS[status]
  if (kind === undefined || completedAt === undefined) return []
  return [opOf<RunOutcome>(type, pastKey(kind, completedAt, runId), { taskId, runNumber })]
}

/** Keeps or forgets a planned time that became no run and is not made up for by one. */
export function outcomeOfSlot (type: Op['type'], taskId: string, slot: Slot): Op[] {
  if ((slot.fate !== 'skipped' && slot.fate !== 'missed') || slot.settledAt === undefined) return []
  return [opOf<SlotOutcome>(type, pastKey('notRun', slot.settledAt, `${taskId}-${slot.at}`), { taskId, slot })]
}

const opOf = <T>(type: Op['type'], key: string, value: T): Op => type === 'put' ? { type, key, value } : { type, key }
