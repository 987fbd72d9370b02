import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { Config } from '../../schemas/config.ts'
import type { TaskStreamEvent } from '../../schemas/task-events.ts'
import type { Clock } from '../lib/clock.ts'
import type { Idempotency } from '../http/idempotency.ts'
import type { Registry } from '../providers/registry.ts'
import type { ContextWindows } from '../providers/context-windows.ts'
import type { Store } from '../store/store-types.ts'
import type { Fence } from '../tools/fence.ts'
import type { ToolHost } from '../tools/host.ts'
import type { TaskRepository } from './task-repository.ts'

/** What the tasks work with. */
export interface TaskDeps {
  store: Store
  clock: Clock
  registry: Registry & ContextWindows
  host: ToolHost
  fence: Fence
  idempotency: Idempotency
  config: () => Config
  /** What is remembered of the user, as text for the system prompt. */
  memory: () => Promise<string>
  /** Folder of tasks that name none. */
  workspace: () => string
  emit: (event: TaskStreamEvent) => void
  log: {
    info(details: object, message: string): void,
    warn(details: object, message: string): void,
    error(details: object, message: string): void
  }
}

/** The same with the book, for what is built upon it. */
export interface RunDeps extends TaskDeps {
  repository: TaskRepository
}

/** The models that may answer a question of ours, the cheap one first. */
export const loaders = ({ registry }: Pick<TaskDeps, 'registry'>) => {
  const { fast, capable } = registry.roles()
  const load = (id: string) => (): Promise<{ model: LanguageModelV4 }> => registry.model(id)
  return fast === capable ? [load(fast)] : [load(fast), load(capable)]
}
