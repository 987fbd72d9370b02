import type { ToolProgress } from '../../../schemas/tool-progress.ts'
import type { AddressGate, CallGrants } from '../../approvals/index.ts'
import type { Grant } from '../../contracts/grant-record.ts'
import type { Call, CallQuestions, QuestionOutcome } from '../../contracts/tool.ts'
import type { Op } from '../../store/index.ts'
import type { ToolHost } from '../../tools/index.ts'
import type { CallEnd } from './call-end.ts'
import type { StepSoFar } from './call-policy.ts'

/** A step whose calls are being settled: what its policies read, where its calls run, and how the results are stored. */
export interface SettledStep extends StepSoFar {
  /** `owner` is the task, or the digest of the thread, that the run belongs to. */
  run: StepSoFar['run'] & { owner: string, attempt: number }
  tools: StepSoFar['tools'] & Pick<ToolHost, 'outlook' | 'keep' | 'execute'>
  grants: CallGrants
  addresses: AddressGate
  /** Whether a read that was interrupted is repeated when the run continues; otherwise it ends with an unknown outcome. */
  repeatsReads: boolean
  /** The files that calls which ask would leave, for the calls after them. `isKnown`: they change nothing else. */
  ahead: { files: Map<string, Uint8Array | null>, others: Set<string>, calls: string[], isKnown: boolean }
  /** An approved call asks again: the calls after it wait. */
  isHeld?: true
  /** Throws if the outputs of the run have reached their limit. */
  checkLimit (): void
  /**
   * Called before a tool starts. When the promise resolves, `ops`, the use of `grant` (if the call has one) and, with `isDurable`, an
   * intent are on disk. Resolves to false if the grant has ended meanwhile: then nothing was written, and the call must not run.
   */
  begin (call: Call, isDurable: boolean, ops: Op[], grant?: Grant): Promise<boolean>
  /** Stores something at once. */
  store (ops: Op[]): Promise<void>
  /** Stores the end of a call before readers see it. */
  end (call: Call, end: CallEnd): Promise<void>
  /** Shows the progress of a call to readers. */
  progress? (call: Call, progress: ToolProgress): void
  /** Asks the user in the middle of a call; absent in runs that ask nobody. See `ToolContext.ask`. */
  ask? (call: Call, questions: CallQuestions): Promise<QuestionOutcome>
}
