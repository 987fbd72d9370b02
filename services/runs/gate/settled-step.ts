import type { ToolProgress } from '../../../schemas/tool-progress.ts'
import type { AddressGate, CallGrants } from '../../approvals/index.ts'
import type { Grant } from '../../contracts/grant-record.ts'
import type { Call, CallQuestions, QuestionOutcome } from '../../contracts/tool.ts'
import type { Op } from '../../store/index.ts'
import type { ToolHost } from '../../tools/index.ts'
import type { CallEnd } from './call-end.ts'
import type { StepSoFar } from './call-policy.ts'

/**
 * A step whose calls are being settled: the facts that policies use, the place where calls run, and the functions that store the results.
 */
export interface SettledStep extends StepSoFar {
  /** `owner` is the `place` of the run's owner; see `RunOwner`. */
  run: StepSoFar['run'] & { owner: string, attempt: number }
  tools: StepSoFar['tools'] & Pick<ToolHost, 'outlook' | 'keep' | 'execute'>
  grants: CallGrants
  addresses: AddressGate
  /** Whether an interrupted call that only reads is repeated when the run continues. Otherwise it ends with an unknown outcome. */
  repeatsReads: boolean
  /**
   * The effects of the calls that wait for an approval, for the calls after them. `files` are the contents that these calls would leave, by
   * path, `others` are the paths among them with files of others, and `calls` are the ids of these calls. `isKnown`: they change nothing
   * else.
   */
  ahead: { files: Map<string, Uint8Array | null>, others: Set<string>, calls: string[], isKnown: boolean }
  /** Set when an approved call asks again. The calls after it then wait. */
  isHeld?: true
  /** Throws if the outputs of the run have reached their limit. */
  checkLimit (): void
  /**
   * Called before a tool starts. When the promise resolves, `ops`, the use of `grant` (if the call has one) and, with `isDurable`, an
   * intent (the record that the tool is about to start) are on disk. Resolves to false if the grant has ended meanwhile. Then nothing was
   * written, and the call must not run.
   */
  begin (call: Call, isDurable: boolean, ops: Op[], grant?: Grant): Promise<boolean>
  /** Stores operations at once. */
  store (ops: Op[]): Promise<void>
  /** Stores the end of a call before readers see it. */
  end (call: Call, end: CallEnd): Promise<void>
  /** Shows the progress of a call to readers. */
  progress? (call: Call, progress: ToolProgress): void
  /** Asks the user in the middle of a call; undefined in runs that ask nobody. See `ToolContext.ask`. */
  ask? (call: Call, questions: CallQuestions): Promise<QuestionOutcome>
}
