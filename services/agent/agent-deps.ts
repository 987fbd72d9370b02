import type { PromptChoice } from '../../schemas/mcp-prompts.ts'
import type { LiveQuestions } from '../approvals/index.ts'
import type { Idempotency } from '../http/index.ts'
import type { Attachments } from '../attachments/index.ts'
import type { ToldMemory } from '../brain/index.ts'
import type { Copies } from '../copies/index.ts'
import type { AttachedFiles } from '../contracts/attached-file.ts'
import type { ContextWindows, Registry } from '../models/index.ts'
import type { ActiveRuns, Agents, createStoredAnswers, EngineDeps } from '../runs/index.ts'
import type { TaskCreation } from '../contracts/task-control.ts'
import type { ThreadRepository } from '../threads/index.ts'
import type { FolderGuides, Skills, ToolHost } from '../tools/index.ts'
import type { Undo } from '../undo/index.ts'
import type { ConversationStates } from './conversation-state.ts'

/** The collaborators of the agent. */
export interface AgentDeps extends EngineDeps {
  activeRuns: ActiveRuns
  /** The models and their context windows. `keyChanges` returns how often API keys were changed. */
  registry: Registry & ContextWindows & { keyChanges: () => number }
  host: ToolHost
  liveQuestions: Pick<LiveQuestions, 'ask' | 'clean' | 'has' | 'decide'>
  conversations: ConversationStates
  threads: ThreadRepository
  answers: Pick<ReturnType<typeof createStoredAnswers>, 'make'>
  agents: Pick<Agents, 'check' | 'resolve'>
  idempotency: Idempotency
  attachments: Attachments
  attachedFiles: AttachedFiles
  /** The part of the brain that the models of a conversation are told of. */
  memory: Pick<ToldMemory, 'ofThread'>
  guides: Pick<FolderGuides, 'read' | 'markKnown'>
  skills: Pick<Skills, 'find'>
  /** A description of this computer for models. */
  machine: string
  /** Takes requests for background work. Without it, such a request is answered like any other. */
  tasks?: TaskCreation
  /** Returns an MCP prompt of a tool server: its text, quoted, and its images. */
  prompt: (choice: PromptChoice, signal: AbortSignal) => Promise<{ text: string, images: Array<{ mediaType: string, data: string }> }>
  /** The copies of folders that runs work in. */
  copies: Pick<Copies, 'open' | 'openOwn' | 'find' | 'removeOwn' | 'shown'>
  undo: Pick<Undo, 'removal' | 'requireNoCommands' | 'takeBackAll'>
  /** Returns the working folder of a run whose request names none. */
  workspace: () => string
}
