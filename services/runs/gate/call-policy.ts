import type { CallGrants, Concern, Granted } from '../../approvals/index.ts'
import type { Answerable, AppCallItem, QuestionItem, RefusedCall, ToolItem } from '../../contracts/approval-record.ts'
import type { Call, ToolOutput, WorkFolder } from '../../contracts/tool.ts'
import type { NewLine } from '../../contracts/sheet-record.ts'
import type { ToolHost } from '../../tools/index.ts'
import type { CallEnd } from './call-end.ts'
import type { RunPolicy } from './run-policy.ts'

export type Decision =
  | { is: 'run', because?: Granted }
  | { is: 'deny', reason: string }
  /** In rehearsals: the call gets this output and is not executed. */
  | { is: 'answer', output: ToolOutput }
  /** An approval or a question is open. `asks`: the question has still to be asked. */
  | { is: 'wait', asks?: true }
  /** The call was decided before, or cannot run here. */
  | { is: 'ended', end: CallEnd }

/** A call of a step, with the findings of the policies. A call is checked when the step begins, and again immediately before it runs. */
export interface CheckedCall {
  readonly call: Call
  /**
   * The call changes only the copy in which its run works. `confinedTo` is the working folder of the box (the sandbox), if the call is a
   * command.
   */
  copied?: { copy: string, confinedTo?: WorkFolder }
  /** Concerns (reasons to ask a person) that a policy withdrew. */
  takenBack: Concern[]
  /** The concerns about the call's addresses, and the concerns of its tool. Other calls of the same step do not change these. */
  ownConcerns?: Concern[]
  /** A rehearsal lets the call run. */
  isRehearsed?: true
}

/** The facts about the step of a call that policies use. */
export interface StepSoFar {
  run: { runId: string, cwd: string, signal: AbortSignal }
  policy: RunPolicy
  tools: Pick<
    ToolHost,
    'find' | 'permission' | 'isAllowedByUser' | 'identity' | 'toolServer' | 'boundary' | 'folders' | 'foresee' | 'copyAt'
  >
  /** Calls whose tools were about to start in an earlier attempt: an execution of the run that was interrupted. */
  begun: ReadonlySet<string>
  /**
   * Returns the newest approval of a call and, if a person or the application answers the call, the item with the answer, as the ledger has
   * them.
   */
  itemsOf (toolCallId: string): { approval?: ToolItem, answer?: QuestionItem | AppCallItem }
  /** Whether an item can still be answered. */
  isOpen (item: Answerable): boolean
  /** The calls that the user denied before. */
  refused: readonly RefusedCall[]
  addresses?: {
    question (call: Call): Promise<Pick<Concern, 'reason' | 'because'> | undefined>
    textOfOthers? (): Promise<string | undefined>
  }
  grants?: CallGrants
  rehearsal?: Rehearsal
}

/** A rehearsal: a run on a copy of a folder, which lists the calls that it would make. */
export interface Rehearsal {
  /** The original folder. */
  cwd: string
  /** The run works on a copy even without a rehearsal, so calls that change only the copy need no approval. */
  isOnCopy: boolean
  /** The grants for the original folder, not for the copy. */
  grants: CallGrants
  /** Adds a call to the sheet. */
  note (line: NewLine): void
}

/** One rule about calls. Each policy has its own file. POLICIES lists the policies in the order in which they are asked. */
export interface CallPolicy {
  name: string
  /** Returns a decision or, to let the next policy go on, the concerns: the given ones, with additions or withdrawals of this policy. */
  decide (checked: CheckedCall, step: StepSoFar, concerns: Concern[]): Promise<Decision | Concern[]>
}
