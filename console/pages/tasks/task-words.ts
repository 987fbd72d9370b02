import type { Task } from '../../../client/generated/index.ts'

/** Characters of a goal that serve as the title of its task. */
const TITLE = 120

/** The first line of a goal, cut. */
export function titleOf (goal: string): string {
  const [line] = goal.trim().split('\n', 1)
  return line.length > TITLE || line.length < goal.trim().length ? `${line.slice(0, TITLE)}…` : line
}

/** The state of a task for `Status`: a task that waits for its application waits for no person. */
export const statusOf = ({ status, waitingFor }: Pick<Task, 'status' | 'waitingFor'>): string =>
  status === 'pending_approval' && waitingFor?.length && waitingFor.every(({ kind }) => kind === 'app') ? 'waiting_for_app' : status

/** Whether the result of a run waits for a person while the task goes on. */
export const hasOpenResult = ({ status, waitingFor = [] }: Pick<Task, 'status' | 'waitingFor'>): boolean =>
  status !== 'pending_approval' && waitingFor.some(({ kind }) => kind === 'result')

/** Options of a task that are texts and shown. */
export type TaskOption = 'agent' | 'model' | 'effort' | 'instructions'
