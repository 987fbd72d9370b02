import type { LiveQuestions } from '../approvals/index.ts'
import type { TaskStreamEvent } from '../../schemas/task-events.ts'
import type { Copies } from '../copies/index.ts'
import type { Undo } from '../undo/index.ts'
import type { Idempotency } from '../http/index.ts'
import type { ContextWindows, Registry } from '../models/index.ts'
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
  liveQuestions: Pick<LiveQuestions, 'ask' | 'ofTask'>
  undo: Pick<Undo, 'asLeft' | 'removal' | 'sweepSoon'>
  /** The copies of folders that rehearsals work in. */
  copies: Pick<Copies, 'openOwn' | 'removeOwn'>
  idempotency: Idempotency
  usage: Pick<UsageMeters, 'meter' | 'open' | 'close' | 'tasksOverBudget'> & Pick<UsageRepository, 'forget'>
  /** The user's brain, as text for the system prompt. */
  memory: (about: string, isCompact: boolean) => Promise<string>
  guides: Pick<FolderGuides, 'readKnown'>
  skills: Pick<Skills, 'find' | 'known'>
  /** The folders that triggers may watch, and the thread that looks at them. */
  paths: PathPolicy
  transform: Transform
  /** For folders that take so long that the others must not wait for them. */
  slowTransform: Transform
  /** A description of this computer for models. */
  machine: string
  /** The working folder of tasks that name none. */
  workspace: () => string
  emit: (event: TaskStreamEvent) => void
  notifications: TaskNotifications
}

/** The collaborators of the parts that use the repository. */
export interface RunDeps extends TaskDeps {
  repository: TaskRepository
}

/** The models that may answer an internal question, with their roles: the fast model, then the capable model when it differs. */
export const internalModelLoaders = ({ registry }: Pick<TaskDeps, 'registry'>) => {
  const { fast, capable } = registry.roles()
  const ask = (role: 'fast' | 'capable') => ({ role, load: () => registry.model(role) })
  return fast === capable ? [ask('fast')] : [ask('fast'), ask('capable')]
}
