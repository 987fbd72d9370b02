import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { QuestionItem, RefusedCall } from '../../contracts/approval-record.ts'
import type { Learning, Said } from '../../approvals/index.ts'
import type { ContextWindows, Registry } from '../../models/index.ts'
import type { CompactorParts, Conversation } from '../../threads/index.ts'
import type { RunContext, RunEvent } from '../../contracts/run-events.ts'
import type { Rehearsed } from '../../contracts/sheet-record.ts'
import type { Call } from '../../contracts/tool.ts'
import type { ToolHost } from '../../tools/index.ts'
import type { RunRecord } from '../run-record.ts'
import type { CallEnd } from '../gate/call-end.ts'
import type { RunPolicy } from '../gate/run-policy.ts'

/** The messages before those of a run, and what belongs to them. */
export interface RunPrompt {
  /** The messages in the form for models. */
  messages: LanguageModelV4Prompt
  /** The positions of the messages in the thread. */
  placement: Pick<Conversation, 'older' | 'places'>
  /** Loads and stores the summaries that replace older parts of the conversation. */
  summaries: Pick<CompactorParts, 'load' | 'keep'>
  /** The words of a person with which the run begins. */
  said: Said
  /** Data of others that were given with the words. */
  given?: string
  /** Whether entries of the user's memory are added to messages. */
  hasRecalled?: boolean
  /** Returns the entries of the memory that fit the messages, as data. */
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

/** The conversation or the task that a run belongs to, for one attempt at the run. */
export interface RunOwner<R extends RunRecord = RunRecord> {
  /**
   * Each step with calls is stored when it ends, so that a run continues from there after a crash. In a task, the answer of the model and
   * the end of every call are also stored at once; in a conversation, only calls that may change something.
   */
  kind: 'conversation' | 'task'
  /** The task, or the digest of the thread, under which the changes of its calls are recorded. */
  place: string
  /** The models and the tools that the options of the run allow. */
  registry: Registry & ContextWindows
  tools: ToolHost
  prompt: RunPrompt
  /** Which of the calls ask, and who answers. */
  policy: RunPolicy
  /** The calls that the user denied in the conversation; for the run of a task, they are among the items that it has requested. */
  refused?: readonly RefusedCall[]
  /** For runs of tasks: what they do with grants that approved runs teach. */
  learning?: Learning
  /** For rehearsals: receives the calls that the run would make. */
  rehearsed?: Rehearsed
  /** Returns the context of the run, which is made once and kept in the log: `append` writes a new one to it. */
  context: (append: (event: RunEvent) => void) => Promise<RunContext>
  /** Returns messages for the model's next step; each is returned once. */
  notes: () => readonly string[]
  /** Returns the prompt, with what the model is told after the messages. What it adds to a message stays there in later prompts. */
  complete?: (prompt: LanguageModelV4Prompt) => LanguageModelV4Prompt
  /** Passes events to the owner's readers. */
  tell?: (news: RunNews) => void
  /** Returns fields of the record that a call has changed. */
  changes?: () => Partial<R>
  /**
   * Judges the answer of the run. Returns the message with which the run may improve it, and changes of the record; undefined if the answer
   * is accepted. It is not called while messages of the user wait.
   */
  review: (answer: { isLast: boolean, object?: object }) => Promise<Review<R> | undefined>
}

/** The result of a review of an answer. */
export interface Review<R extends RunRecord = RunRecord> {
  /** The message with which the run continues, for a second version of its answer; absent: the answer is accepted. */
  refinement?: string
  /** With a refinement: the reviewed answer remains valid if no second version comes. */
  mayStand?: boolean
  /** Which version of the answer its readers get, after the review of a second one. */
  kept?: 'first' | 'second'
  changes?: Partial<R>
  /** Called when the changes are on disk. */
  told?: () => void
}
