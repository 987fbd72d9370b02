import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { QuestionItem, RefusedCall } from '../../contracts/approval-record.ts'
import type { Learning, Said } from '../../approvals/index.ts'
import type { ContextWindows, Registry } from '../../models/index.ts'
import type { CompactorParts, Conversation } from '../../threads/index.ts'
import type { RunContext, RunEvent } from '../../contracts/run-events.ts'
import type { Call } from '../../contracts/tool.ts'
import type { ToolHost } from '../../tools/index.ts'
import type { RunRecord } from '../run-record.ts'
import type { CallEnd } from '../gate/call-end.ts'
import type { RunPolicy } from '../gate/run-policy.ts'

/** The messages that a run begins with, and the data that belong to them. */
export interface RunPrompt {
  /** The messages, converted for models. */
  messages: LanguageModelV4Prompt
  /** The positions of the messages in the thread. */
  placement: Pick<Conversation, 'older' | 'places'>
  /** Loads and stores the summaries that replace older parts of the conversation. */
  summaries: Pick<CompactorParts, 'load' | 'keep'>
  /** The words of a person with which the run begins. */
  said: Said
  /** Data of others that were given together with the person's words. */
  given?: string
  /** Whether entries of the user's memory are added to messages. */
  hasRecalled?: boolean
  /** Returns the memory entries that fit each message, as text for the model. */
  recalled?: () => Promise<ReadonlyMap<LanguageModelV4Message, string>>
  /** Returns the beginnings of the texts of attached files, as messages show them. */
  attached?: () => Promise<string[]>
}

/** Events of a run that its owner passes to its own readers. */
export type RunNews =
  | { is: 'step', events: readonly RunEvent[] }
  | { is: 'call-begun', call: Call }
  | { is: 'call-ended', call: Call, event: CallEnd['event'] }
  | { is: 'question', item: QuestionItem }

/** The conversation or the task that a run belongs to, for one attempt (one uninterrupted execution) at the run. */
export interface RunOwner<R extends RunRecord = RunRecord> {
  /**
   * In both kinds, each step with calls is stored when the step ends, so that a run continues from there after a crash. In a task, the
   * answer of the model and the end of every call are also stored at once; in a conversation, only the end of calls that can change
   * something.
   */
  kind: 'conversation' | 'task'
  /**
   * The key under which provenance (the origins of addresses and texts) and the changes of calls are recorded: the digest of the thread,
   * the id of the task, or for a rehearsal the id of the run.
   */
  place: string
  /** The models that the options of the run allow; `tools` has the tools that they allow. */
  registry: Registry & ContextWindows
  tools: ToolHost
  prompt: RunPrompt
  /** Which calls need an approval, and whether somebody can answer. */
  policy: RunPolicy
  /** The calls that the user denied in the conversation. For the run of a task, they are among the items that the run has requested. */
  refused?: readonly RefusedCall[]
  /** For runs of tasks: whether learned grants are used, and whether the run can teach new ones. */
  learning?: Learning
  /** Returns the context of the run. It is made once, and `append` writes it to the log; later calls read it from there. */
  context: (append: (event: RunEvent) => void) => Promise<RunContext>
  /** Returns notes for the model's next step. Each note is returned once. */
  notes: () => readonly string[]
  /** Returns the prompt with additions of the owner. An addition to a message stays there in later prompts. */
  complete?: (prompt: LanguageModelV4Prompt) => LanguageModelV4Prompt
  /** Passes events to the owner's readers. */
  tell?: (news: RunNews) => void
  /**
   * Judges the answer of the run; see `Review` for the result. Returns undefined if the answer is accepted without changes. Not called
   * while messages of the user wait.
   */
  review: (answer: { isLast: boolean, object?: object }) => Promise<Review<R> | undefined>
}

/** The result of a review of an answer. */
export interface Review<R extends RunRecord = RunRecord> {
  /** The message with which the run continues, to make a second version of its answer; undefined if the answer is accepted. */
  refinement?: string
  /** With a refinement: the reviewed answer remains valid if no second version comes. */
  mayStand?: boolean
  /** Which version of the answer readers get, after the review of a second version. */
  kept?: 'first' | 'second'
  changes?: Partial<R>
  /** Called when the changes are on disk. */
  told?: () => void
}
