import type { Slot } from '../../../schemas/schedule.ts'
import type { Firing } from '../../../schemas/triggers.ts'
import type { RunStatus } from '../../../schemas/tasks.ts'
import { type Op, outcomeKey } from '../../store/index.ts'
import { isUngranted } from '../../contracts/model-texts.ts'
import type { StoredRun } from '../task-records.ts'

/**
 * The kinds of outcomes in the digest: ended runs by their status (`completed`, `failed`, `stopped`), slots
 * without a run (`notRun`), and firings that need a line of their own (`fired`).
 */
export type OutcomeKind = 'completed' | 'failed' | 'stopped' | 'notRun' | 'fired'

/**
 * A reference to an ended run. `nothing`: the run completed and had nothing to do. `denied`: calls were denied
 * because no grant covered them.
 */
export type RunOutcome = { taskId: string, runId: string, nothing?: true, denied?: true }
/** A slot that began no run. */
export type SlotOutcome = { taskId: string, slot: Slot }

/** A firing that began no run of its own, or that was for changes while the service was not running. */
export type FiringOutcome = { taskId: string, firing: Firing }

const KINDS: Partial<Record<RunStatus, OutcomeKind>> = {
  completed: 'completed',
  failed: 'failed',
  rejected: 'stopped',
  cancelled: 'stopped',
  interrupted: 'stopped'
}

/** Returns the operation that adds a run to the outcome index or removes the run from it; none if the run has not ended. */
export function outcomeOfRun (
  type: Op['type'],
  { taskId, runId, status, completedAt, evaluation, toolCalls }: Pick<
    StoredRun,
    'taskId' | 'runId' | 'status' | 'completedAt' | 'evaluation' | 'toolCalls'
  >
): Op[] {
  const kind = KINDS[status]
  if (kind === undefined || completedAt === undefined) return []
  const denied = toolCalls.some(isUngranted) && { denied: true as const }
  // A run whose report is not verified must be shown, not only counted.
  const hadNothing = evaluation?.outcome === 'nothing_to_do' && evaluation.verified !== false
  const nothing = !denied && status === 'completed' && hadNothing && { nothing: true as const }
  return [opOf<RunOutcome>(type, outcomeKey(kind, completedAt, runId), { taskId, runId, ...nothing, ...denied })]
}

/** Returns the operation that adds a slot to the outcome index or removes the slot from it; none unless the slot was skipped or missed. */
export function outcomeOfSlot (type: Op['type'], taskId: string, slot: Slot): Op[] {
  if ((slot.fate !== 'skipped' && slot.fate !== 'missed') || slot.settledAt === undefined) return []
  return [opOf<SlotOutcome>(type, outcomeKey('notRun', slot.settledAt, `${taskId}-${slot.at}`), { taskId, slot })]
}

/**
 * Returns the operation that adds a firing to the outcome index or removes the firing from it; none if the run
 * of the firing shows it already.
 */
export function outcomeOfFiring (type: Op['type'], taskId: string, firing: Firing): Op[] {
  if ((firing.fate === 'run' || firing.fate === 'coalesced') && !firing.away) return []
  return [opOf<FiringOutcome>(type, outcomeKey('fired', firing.at, firing.id), { taskId, firing })]
}

const opOf = <T>(type: Op['type'], key: string, value: T): Op => type === 'put' ? { type, key, value } : { type, key }
