import type { Task } from '../../../client/generated/index.ts'

/** The state of a task for `Status`: a task that waits for its application waits for no person. */
export const statusOf = ({ status, waitingFor }: Pick<Task, 'status' | 'waitingFor'>): string =>
  status === 'pending_approval' && waitingFor?.length && waitingFor.every(({ kind }) => kind === 'app') ? 'waiting_for_app' : status

/** Whether the result of a run waits for a person while the task goes on. */
export const hasOpenResult = ({ status, waitingFor = [] }: Pick<Task, 'status' | 'waitingFor'>): boolean =>
  status !== 'pending_approval' && waitingFor.some(({ kind }) => kind === 'result')

/** The longest goal that is a title. */
const LONGEST_TITLE = 120

/** The title of a task's page: its goal in place of a name that was cut from it, if the goal is no longer than a title may be. */
export const titleOf = ({ name, goal }: Pick<Task, 'name' | 'goal'>): string =>
  name.endsWith('…') && goal.length <= LONGEST_TITLE && goal.startsWith(name.slice(0, -1)) ? goal.trim() : name

/** Options of a task that are texts and shown. */
export type TaskOption = 'agent' | 'model' | 'effort' | 'instructions'
