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

/** The messages before those of a run, and what stands beside them. */
export interface RunPrompt {
  /** As models get them. */
  messages: LanguageModelV4Prompt
  /** Their places in the thread. */
  placement: Pick<Conversation, 'older' | 'places'>
  /** Loads and stores the summaries that replace older parts of the conversation. */
  summaries: Pick<CompactorParts, 'load' | 'keep'>
  /** The words of a person that the run begins with. */
  said: Said
  /** Data of others, beside what is said. */
  given?: string
  /** Whether messages are told with entries of the user's memory. */
  hasRecalled?: boolean
  /** Returns those entries that fit the messages, as data. */
  recalled?: () => Promise<ReadonlyMap<LanguageModelV4Message, string>>
  /** Returns the beginnings of the texts of attached files, as messages show them. */
  attached?: () => Promise<string[]>
}

/** What happens in a run, for the readers of its owner. */
export type RunNews =
  | { is: 'step', events: readonly RunEvent[] }
  | { is: 'call-begun', call: Call }
  | { is: 'call-ended', call: Call, event: CallEnd['event'] }
  | { is: 'question', item: QuestionItem }

/** The conversation or the task that a run belongs to, for one attempt at the run: data, and five functions. */
export interface RunOwner<R extends RunRecord = RunRecord> {
  /**
   * Each step with calls is stored when it ends, so that a run continues from there after a crash. Of a task, the answer of the model
   * and the end of every call are stored at once, too; of a conversation, only calls that may change something.
   */
  kind: 'conversation' | 'task'
  /** The task, or the digest of the thread: whose changes the calls make. */
  place: string
  /** The models and the tools that the options of the run leave. */
  registry: Registry & ContextWindows
  tools: ToolHost
  prompt: RunPrompt
  /** Which of its calls ask, and who answers. */
  policy: RunPolicy
  /** The calls that the user denied in the conversation; those of a task's run are found in what it has asked. */
  refused?: readonly RefusedCall[]
  /** Of runs of tasks: what they have to do with what approved runs teach. */
  learning?: Learning
  /** Of rehearsals: where what the run would do is noted. */
  rehearsed?: Rehearsed
  /** Returns the context of the run, which is made once and kept in the log: `append` puts a new one there. */
  context: (append: (event: RunEvent) => void) => Promise<RunContext>
  /** Returns what the model is told with its next step, once each, as messages of the user. */
  notes: () => readonly string[]
  /** Returns the prompt with what the model is told behind the messages. What it adds to a message stays there in later prompts. */
  complete?: (prompt: LanguageModelV4Prompt) => LanguageModelV4Prompt
  /** Tells the owner's readers what happens. */
  tell?: (news: RunNews) => void
  /** Returns fields of the record that a call has changed. */
  changes?: () => Partial<R>
  /**
   * Judges the answer of the run. Returns the message with which the run may mend it, and changes of the record; undefined when the
   * answer is accepted. It is not called while steering waits.
   */
  review: (answer: { isLast: boolean, object?: object }) => Promise<Review<R> | undefined>
}

/** What a review of an answer leads to. */
export interface Review<R extends RunRecord = RunRecord> {
  /** The run goes on with this message, for a second version of its answer; without one, the answer is accepted. */
  refinement?: string
  /** With a refinement: the answer stands when no second version comes. */
  mayStand?: boolean
  /** Which version of the answer its readers get, after the review of a second one. */
  kept?: 'first' | 'second'
  changes?: Partial<R>
  /** Called when the changes are on disk. */
  told?: () => void
}
