import type { Task } from '../../../client/generated/index.ts'

/** The state of a task for `Status`: a task that waits for its application waits for no person. */
export const statusOf = ({ status, waitingFor }: Pick<Task, 'status' | 'waitingFor'>): string =>
  status === 'pending_approval' && waitingFor?.length && waitingFor.every(({ kind }) => kind === 'app') ? 'waiting_for_app' : status

/** Whether the result of a run waits for a person while the task goes on. */
export const hasOpenResult = ({ status, waitingFor = [] }: Pick<Task, 'status' | 'waitingFor'>): boolean =>
  status !== 'pending_approval' && waitingFor.some(({ kind }) => kind === 'result')

/** Options of a task that are texts and shown. */
export type TaskOption = 'agent' | 'model' | 'effort' | 'instructions'
