import type { LiveQuestions } from '../approvals/questions/live-questions.ts'
import type { Registry } from '../models/providers/registry.ts'
import type { ContextWindows } from '../models/providers/context-windows.ts'
import type { ActiveRuns } from '../runs/engine/active-runs.ts'
import type { EngineDeps } from '../runs/engine/attempt.ts'
import type { TaskLauncher } from '../contracts/task-launcher.ts'
import type { ThreadRepository } from '../threads/thread-repository.ts'
import type { FolderGuides } from '../tools/files/folder-guide.ts'
import type { ToolHost } from '../tools/host.ts'
import type { ConversationStates } from './conversation-state.ts'

/** The collaborators of the agent. */
export interface AgentDeps extends EngineDeps {
  activeRuns: ActiveRuns
  /** `keyChanges` counts the changes of keys. */
  registry: Registry & ContextWindows & { keyChanges: () => number }
  host: ToolHost
  liveQuestions: Pick<LiveQuestions, 'ask' | 'clean' | 'has' | 'decide'>
  conversations: ConversationStates
  threads: ThreadRepository
  /** Returns the brain as text for the system prompt; called once for each run. */
  memory: () => Promise<string>
  guides: Pick<FolderGuides, 'read' | 'markKnown'>
  /** A description of this computer for models. */
  machine: string
  /** Takes requests for background work. Without it, such a request is answered like any other. */
  tasks?: TaskLauncher
  /** Returns the working folder of runs whose request names none. */
  workspace: () => string
}
