import type { LiveQuestions } from '../approvals/questions/live-questions.ts'
import type { TaskStreamEvent } from '../../schemas/task-events.ts'
import type { Journal } from '../undo/journal.ts'
import type { Idempotency } from '../http/idempotency.ts'
import type { Registry } from '../models/providers/registry.ts'
import type { ContextWindows } from '../models/providers/context-windows.ts'
import type { ActiveRuns } from '../runs/engine/active-runs.ts'
import type { EngineDeps } from '../runs/engine/attempt.ts'
import type { FolderGuides } from '../tools/files/folder-guide.ts'
import type { ToolHost } from '../tools/host.ts'
import type { UsageMeters } from '../usage/meter.ts'
import type { UsageRepository } from '../usage/usage-repository.ts'
import type { TaskRepository } from './task-repository.ts'

/** The collaborators of the task service. */
export interface TaskDeps extends EngineDeps {
  activeRuns: ActiveRuns
  registry: Registry & ContextWindows
  host: ToolHost
  liveQuestions: Pick<LiveQuestions, 'ask' | 'ofTask'>
  journal: Pick<Journal, 'removal' | 'sweepSoon'>
  idempotency: Idempotency
  usage: Pick<UsageMeters, 'meter' | 'open' | 'close'> & Pick<UsageRepository, 'forget'>
  /** The user's brain, as text for the system prompt. */
  memory: () => Promise<string>
  guides: Pick<FolderGuides, 'readKnown'>
  /** A description of this computer for models. */
  machine: string
  /** The working folder of tasks that name none. */
  workspace: () => string
  emit: (event: TaskStreamEvent) => void
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
