import type { Choice, ChoiceTopic } from '../../schemas/approvals.ts'
import type { Ledger } from '../approvals/index.ts'
import { isUnanswered, type TaskChoice } from '../contracts/approval-record.ts'
import { inState } from '../contracts/approval-states.ts'
import { isFinished, type StoredTask } from './task-records.ts'

/** The answers that a person can choose from, by the subject of the question about a task. `Lifecycle.choose` carries them out. */
export const CHOICES = {
  failing: [
    { value: 'keep', label: 'Keep trying' },
    { value: 'pause', label: 'Pause the task' },
    { value: 'cancel', label: 'Cancel the task' }
  ],
  missed: [
    { value: 'run', label: 'Run it now' },
    { value: 'cancel', label: 'Drop it' }
  ]
} as const satisfies Record<ChoiceTopic, readonly Choice[]>

export type ChoiceValue = typeof CHOICES[ChoiceTopic][number]['value']

/** True if the task still needs the answer to its question. */
function isNeeded (task: StoredTask, about: ChoiceTopic): boolean {
  switch (about) {
    case 'failing':
      return task.health?.state === 'failing' && task.status !== 'paused' && !isFinished(task)
    case 'missed':
      return task.liveRun === undefined && task.nextRunAt === undefined && task.status !== 'cancelled' && task.status !== 'completed'
  }
}

/**
 * Returns the task with a reference to its open choice, and the choices to store. These are the `given` choice, which
 * is new or answered, and the previous choice as withdrawn, if another one replaces it or the task no longer needs it.
 */
export async function settleChoice (
  ledger: Pick<Ledger, 'find'>,
  task: StoredTask,
  given: TaskChoice | undefined
): Promise<{ task: StoredTask, choices: TaskChoice[] }> {
  const { choice: known, ...rest } = task
  if (given === undefined && (known === undefined || isNeeded(task, known.about))) return { task, choices: [] }
  const left = known === undefined || known.approvalId === given?.approvalId ? undefined : await ledger.find(known.approvalId)
  const isOpen = given !== undefined && isUnanswered(given)
  return {
    task: isOpen ? { ...rest, choice: { approvalId: given.approvalId, about: given.about } } : rest,
    choices: [
      ...given === undefined ? [] : [given],
      ...left?.kind === 'task' && isUnanswered(left) ? [inState(left, 'withdrawn')] : []
    ]
  }
}
