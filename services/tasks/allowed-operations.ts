import type { TaskStatus } from '../../schemas/tasks.ts'
import { WrongState } from './task-errors.ts'
import type { StoredTask } from './task-records.ts'

/** The states in which each operation is allowed. */
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
