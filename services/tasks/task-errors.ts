import { defineError } from '../lib/service-error.ts'
import type { TaskStatus } from '../../schemas/tasks.ts'
import type { StoredTask } from './task-records.ts'

export const TaskNotFound = defineError('ERR_TASK_NOT_FOUND', 'There is no task "%s". GET /tasks lists them.')
export const TaskDamaged = defineError(
  'ERR_RECORD_DAMAGED',
  'The stored record of task "%s" is damaged and cannot be read. ' +
    'DELETE /tasks/:id removes the task; only an earlier backup can restore it.'
)
export const RunNotFound = defineError('ERR_RUN_NOT_FOUND', 'This task has no run "%s". GET /tasks/:id/runs lists them.')
export const RunDamaged = defineError(
  'ERR_RECORD_DAMAGED',
  'The stored record of run "%s" is damaged and cannot be read; only an earlier backup can restore it.'
)
/** Whether the error means that the task or its run no longer exists. */
export const isGone = (error: unknown) => error instanceof TaskNotFound || error instanceof RunNotFound
export const WrongState = defineError('ERR_TASK_STATE', '%s')
export const BadTask = defineError('ERR_INVALID_TASK', '%s')
export const TooManyTasks = defineError(
  'ERR_TOO_MANY_TASKS',
  'There are already %d tasks that are not finished; finish, cancel or delete some first.'
)
export const TooManyFinishedTasks = defineError(
  'ERR_TOO_MANY_TASKS',
  'There are already %d finished tasks; delete some first. ' +
    'GET /tasks lists them by status (completed, failed, cancelled), and DELETE /tasks/:id removes a task.'
)
export const NoQuestion = defineError(
  'ERR_NO_QUESTION',
  'The task is %s, and nothing of it waits for approval. ' +
    'The event task:approval announces what waits, and GET /tasks/:id/runs lists it as "questions"; POST /approvals/:id answers questions.'
)
export const QuestionNotFound = defineError(
  'ERR_APPROVAL_NOT_FOUND',
  'This task has no approval request "%s". GET /tasks/:id/runs lists the open ones.'
)

export const TooManyRehearsals = defineError('ERR_TOO_MANY_REHEARSALS', 'There are already %d rehearsals under way; wait for one to end.')

/** The states of a task in which each operation is allowed. */
const ALLOWED = {
  start: ['planned', 'completed', 'failed', 'cancelled'],
  pause: ['running', 'scheduled', 'pending_approval'],
  resume: ['paused'],
  cancel: ['planned', 'scheduled', 'running', 'pending_approval', 'paused'],
  run: ['planned', 'scheduled', 'paused', 'completed', 'failed'],
  steer: ['planned', 'scheduled', 'running', 'pending_approval', 'paused', 'completed', 'failed'],
  approve: ['pending_approval', 'running']
} as const satisfies Record<string, readonly TaskStatus[]>

const HINTS: Partial<Record<TaskStatus, string>> = {
  paused: 'POST /tasks/:id/resume continues it',
  running: 'POST /tasks/:id/pause or /cancel stops it',
  pending_approval: 'POST /tasks/:id/approve answers its question',
  cancelled: 'POST /tasks/:id/start starts it again'
}

/** Throws WrongState (409), which names the state of the task and the states in which the operation is allowed. */
export function assertState ({ status }: Pick<StoredTask, 'status'>, operation: keyof typeof ALLOWED) {
  const allowed: readonly TaskStatus[] = ALLOWED[operation]
  if (allowed.includes(status)) return
  const hint = HINTS[status]
  throw new WrongState(`The task is ${status}; "${operation}" works when it is ${either(allowed)}.${hint ? ` ${hint}.` : ''}`)
}

const either = (words: readonly string[]) => words.length === 1 ? words[0] : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
