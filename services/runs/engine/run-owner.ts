import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { Owner, QuestionItem } from '../../contracts/approval-record.ts'
import type { Learning, Said } from '../../approvals/index.ts'
import type { ContextWindows, Registry } from '../../models/index.ts'
import type { CompactorParts, Conversation } from '../../threads/index.ts'
import type { RunContext, RunEvent } from '../../contracts/run-events.ts'
import type { Rehearsed } from '../../contracts/sheet-record.ts'
import type { ToolHost } from '../../tools/index.ts'
import type { RunRecord } from '../run-record.ts'
import type { CallEnd } from '../gate/call-end.ts'
import type { RunPolicy } from '../gate/run-policy.ts'
import type { Call } from '../../contracts/tool.ts'

/** What the engine needs to know of the conversation or the task that a run belongs to, for one attempt at the run. */
export interface RunOwner<R extends RunRecord = RunRecord> {
  owner: Owner
  /** The task, or the digest of the thread: whose changes the calls make. */
  place: string
  /** The models and the tools that the options of the run leave. */
  registry: Registry & ContextWindows
  tools: ToolHost
  /** The messages before those of the run, as models get them, and their places in the thread. */
  prompt: LanguageModelV4Prompt
  /** Returns what models are told with messages of the prompt: entries of the user's memory that fit them, as data. */
  recalled?: () => Promise<ReadonlyMap<LanguageModelV4Message, string>>
  /** Whether messages of the prompt are told with entries of the user's memory. */
  hasRecalled?: boolean
  /** Data of others in the prompt, beside what is said. */
  given?: string
  placement: Pick<Conversation, 'older' | 'places'>
  /** Load and store the summaries that replace older parts of the conversation. */
  summaries: Pick<CompactorParts, 'load' | 'keep'>
  /** Returns the context of the run, which is made once and kept in the log: `append` puts a new one there. */
  context: (append: (event: RunEvent) => void) => Promise<RunContext>
  /** What the model is told at the end of each prompt, as messages of the user. It may change within a run. */
  closingNotes: () => string[]
  /** Returns user messages that the model gets with its next step, once each. */
  takeNotes: () => string[]
  /** Which of its calls ask, and who answers. */
  policy: RunPolicy
  /** Whether the user denied the same call (same tool, same input) before. */
  wasDenied: (call: Call) => boolean
  /** The words of a person that the run begins with. */
  said: Said
  /** Returns the beginnings of the texts of attached files, as messages show them. */
  attached?: () => Promise<string[]>
  /** Of runs of tasks: what they have to do with what approved runs teach. */
  learning?: Learning
  /** Of rehearsals: where what the run would do is noted. */
  rehearsed?: Rehearsed
  /**
   * Whether every step and the end of every call is stored before the run goes on, so that it continues from there after a crash.
   * Otherwise only calls that may change something are, and nobody waits for the rest.
   */
  storesSteps: boolean
  /** Returns fields of the record that a call has changed. */
  changesOfCalls?: () => Partial<R>
  /** Returns what readers are shown beside the end of a call. */
  shownWith?: (call: Call, event: CallEnd['event']) => RunEvent[]
  /** Tell the owner's readers what happens. */
  told?: {
    stepMade(events: readonly RunEvent[]): void,
    callBegun(call: Call): void,
    callEnded(call: Call, event: CallEnd['event']): void,
    questionAsked(item: QuestionItem): void
  }
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
