import { createError } from '@fastify/error'

export const TaskNotFound = createError('ERR_TASK_NOT_FOUND', 'There is no task "%s". GET /tasks lists them.', 404)
export const TaskDamaged = createError(
  'ERR_RECORD_DAMAGED',
  'The stored record of task "%s" is damaged and cannot be read. ' +
    'DELETE /tasks/:id removes the task; only an earlier backup can restore it.',
  500
)
export const RunNotFound = createError('ERR_RUN_NOT_FOUND', 'This task has no run "%s". GET /tasks/:id/runs lists them.', 404)
export const RunDamaged = createError(
  'ERR_RECORD_DAMAGED',
  'The stored record of run "%s" is damaged and cannot be read; only an earlier backup can restore it.',
  500
)
export const WrongState = createError('ERR_TASK_STATE', '%s', 409)
export const BadTask = createError('ERR_INVALID_TASK', '%s', 400)
export const TooManyTasks = createError(
  'ERR_TOO_MANY_TASKS',
  'There are already %d tasks that are not finished; finish, cancel or delete some first.',
  409
)
export const TooManyFinishedTasks = createError(
  'ERR_TOO_MANY_TASKS',
  'There are already %d finished tasks; delete some first. ' +
    'GET /tasks lists them by status (completed, failed, cancelled), and DELETE /tasks/:id removes a task.',
  409
)
export const NoQuestion = createError(
  'ERR_NO_QUESTION',
  'The task is %s, and nothing of it waits for approval. ' +
    'The event task:approval announces questions, and GET /tasks/:id/runs lists the open ones as "questions".',
  409
)
export const QuestionNotFound = createError(
  'ERR_APPROVAL_NOT_FOUND',
  'This task has no approval request "%s". GET /tasks/:id/runs lists the open ones.',
  404
)

/** A run exceeded its budget or a limit. */
export const BudgetExceeded = createError('ERR_BUDGET_MET', '%s', 409)
