import type { Config } from '../../schemas/config.ts'
import type { Grants } from '../approvals/grants/grants.ts'
import type { Ledger } from '../approvals/ledger.ts'
import type { LiveQuestions } from '../approvals/questions/live-questions.ts'
import type { TaskLauncher } from '../contracts/task-launcher.ts'
import type { Clock } from '../lib/clock.ts'
import type { Registry } from '../providers/registry.ts'
import type { ContextWindows } from '../providers/context-windows.ts'
import type { Store } from '../store/store-types.ts'
import type { ThreadRepository } from '../threads/thread-repository.ts'
import type { Fence } from '../tools/fence.ts'
import type { FolderGuides } from '../tools/files/folder-guide.ts'
import type { ToolHost } from '../tools/host.ts'
import type { UsageMeters } from '../usage/meter.ts'
import type { ConversationStates } from './conversation-state.ts'

/** The collaborators of the agent. */
export interface AgentDeps {
  store: Store
  clock: Clock
  /** `keyChanges` counts the changes of keys. */
  registry: Registry & ContextWindows & { keyChanges: () => number }
  host: ToolHost
  fence: Fence
  ledger: Ledger
  liveQuestions: Pick<LiveQuestions, 'ask' | 'clean' | 'has' | 'decide'>
  grants: Grants
  conversations: ConversationStates
  threads: ThreadRepository
  usage: Pick<UsageMeters, 'open' | 'close'>
  config: () => Config
  /** Returns the brain as text for the system prompt; called once for each run. */
  memory: () => Promise<string>
  guides: Pick<FolderGuides, 'read' | 'markKnown'>
  /** A description of this computer for models. */
  machine: string
  /** Takes requests for background work. Without it, such a request is answered like any other. */
  tasks?: TaskLauncher
  /** Returns the working folder of runs whose request names none. */
  workspace: () => string
  log: {
    info(details: object, message: string): void,
    warn(details: object, message: string): void,
    error(details: object, message: string): void
  }
}
