import type { Choice, ChoiceTopic } from '../../schemas/approvals.ts'
import type { Ledger } from '../approvals/index.ts'
import { isUnanswered, type TaskChoice } from '../contracts/approval-record.ts'
import { inState } from '../contracts/approval-states.ts'
import { isFinished, type StoredTask } from './task-records.ts'

/** What a person can answer about a task, by what is asked; `TaskLifecycle.choose` does it. */
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

/** Whether the task still needs the answer to what it has asked. */
function isNeeded (task: StoredTask, about: ChoiceTopic): boolean {
  switch (about) {
    case 'failing':
      return task.health?.state === 'failing' && task.status !== 'paused' && !isFinished(task)
    case 'missed':
      return task.liveRun === undefined && task.nextRunAt === undefined && task.status !== 'cancelled' && task.status !== 'completed'
  }
}

/**
 * Returns the changed task with the choice that it waits for, and the choices to store with it: the `given` one, new or answered, and
 * the one before when another takes its place or the task needs it no longer; that one is withdrawn.
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
