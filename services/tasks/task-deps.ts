import type { LiveQuestions } from '../approvals/index.ts'
import type { Thread } from '../../schemas/threads.ts'
import type { TaskStreamEvent } from '../../schemas/task-events.ts'
import type { Copies } from '../copies/index.ts'
import type { Undo } from '../undo/index.ts'
import type { Idempotency } from '../http/index.ts'
import { withDeadline } from '../lib/deadline.ts'
import { askStructured, type ContextWindows, type HelperQueue, type Registry } from '../models/index.ts'
import type { ActiveRuns, Agents, EngineDeps } from '../runs/index.ts'
import type { FolderGuides, PathPolicy, Skills, ToolHost, Transform } from '../tools/index.ts'
import type { UsageMeters, UsageRepository } from '../usage/index.ts'
import type { TaskNotifications } from './task-notifications.ts'
import type { TaskRepository } from './task-repository.ts'

/** The collaborators of the task service. */
export interface TaskDeps extends EngineDeps {
  activeRuns: ActiveRuns
  agents: Pick<Agents, 'check' | 'resolve' | 'using'>
  registry: Registry & ContextWindows
  host: ToolHost
  /** The queue in which small questions to a local model server wait behind the runs of conversations. */
  helpers: HelperQueue
  liveQuestions: Pick<LiveQuestions, 'ask' | 'ofTask'>
  undo: Pick<Undo, 'asLeft' | 'removal' | 'sweepSoon'>
  /** The copies of folders in which rehearsals work. */
  copies: Pick<Copies, 'openOwn' | 'removeOwn'>
  idempotency: Idempotency
  usage: Pick<UsageMeters, 'meter' | 'open' | 'close' | 'tasksOverBudget'> & Pick<UsageRepository, 'forget'>
  /** Returns the text about the user's memory for the system prompt, with entries that fit `about`. */
  memory: (about: string, isCompact: boolean) => Promise<string>
  guides: Pick<FolderGuides, 'readKnown'>
  skills: Pick<Skills, 'find' | 'known'>
  /** Decides which folders triggers are allowed to watch. `transform` is the thread that reads these folders. */
  paths: PathPolicy
  transform: Transform
  /** A second thread for slow folders, so that other folders need not wait for the slow ones. */
  slowTransform: Transform
  /** A description of this computer, for the system prompt. */
  machine: string
  /** Returns the working folder of tasks that name none. */
  workspace: () => string
  emit: (event: TaskStreamEvent) => void
  /** Receives the time of the next due run at least every ten seconds, so that the computer stays awake for it. */
  keepAwake: { setDue (at: number): void }
  notifications: TaskNotifications
  /** The conversations, for the digest. */
  threads: { list(page: { limit: number, cursor?: string }): Promise<{ threads: Thread[], nextCursor?: string }> }
}

/** The collaborators of the parts of the task service that use the repository. */
export interface RunDeps extends TaskDeps {
  repository: TaskRepository
}

/**
 * Returns the models that can answer an internal question, with their roles: the fast model, then the capable
 * model if it is a different one.
 */
export const internalModelLoaders = ({ registry }: Pick<TaskDeps, 'registry'>) => {
  const { fast, capable } = registry.roles()
  const ask = (role: 'fast' | 'capable') => ({ role, id: registry.roles()[role], load: () => registry.model(role) })
  return fast === capable ? [ask('fast')] : [ask('fast'), ask('capable')]
}

/**
 * Asks a helper model. On a local server the question waits behind the runs of conversations, and a run that
 * begins interrupts the question. Resolves to a `problem` if there is no answer within `waitMs` in all;
 * `limitMs` limits the call itself. Rejects with the reason of the signal.
 */
export async function askBehindUser<V> (
  model: string,
  call: Omit<Parameters<typeof askStructured<V>>[0], 'signal' | 'limitMs'>,
  { helpers, limitMs, waitMs, signal }: { helpers: HelperQueue, limitMs: number, waitMs: number, signal: AbortSignal }
): ReturnType<typeof askStructured<V>> {
  try {
    return await withDeadline({ clock: call.clock, ms: waitMs, signal }, (deadline) =>
      helpers.afterRuns(model, deadline, (turn) => askStructured<V>({ ...call, limitMs, signal: turn }), { isOfTask: true }))
  } catch {
    signal.throwIfAborted()
    return { problem: 'took too long', kind: 'slow' }
  }
}
