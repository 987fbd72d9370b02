import type { Task } from '../../../client/generated/index.ts'

/** Returns the state of a task for `Status`. A task that waits only for its application does not wait for a person. */
export const statusOf = ({ status, waitingFor }: Pick<Task, 'status' | 'waitingFor'>): string =>
  status === 'pending_approval' && waitingFor?.length && waitingFor.every(({ kind }) => kind === 'app') ? 'waiting_for_app' : status

/** Returns true if the result of a run waits for a person while the task continues. */
export const hasOpenResult = ({ status, waitingFor = [] }: Pick<Task, 'status' | 'waitingFor'>): boolean =>
  status !== 'pending_approval' && waitingFor.some(({ kind }) => kind === 'result')

/** The longest goal that can be a title, in characters. */
const LONGEST_TITLE = 120

/**
 * Returns the title of a task's page. It is the name, unless the name is the shortened goal and the whole goal is short enough for a title.
 */
export const titleOf = ({ name, goal }: Pick<Task, 'name' | 'goal'>): string =>
  name.endsWith('…') && goal.length <= LONGEST_TITLE && goal.startsWith(name.slice(0, -1)) ? goal.trim() : name

/** Task options that are shown as texts. */
export type TaskOption = 'agent' | 'model' | 'effort' | 'instructions'
