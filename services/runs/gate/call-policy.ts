import type { CallGrants, Concern, Granted } from '../../approvals/index.ts'
import type { Answerable, AppCallItem, QuestionItem, RefusedCall, ToolItem } from '../../contracts/approval-record.ts'
import type { Call, ToolOutput, WorkFolder } from '../../contracts/tool.ts'
import type { Rehearsed } from '../../contracts/sheet-record.ts'
import type { ToolHost } from '../../tools/index.ts'
import type { CallEnd } from './call-end.ts'
import type { RunPolicy } from './run-policy.ts'

export type Decision =
  | { is: 'run', because?: Granted }
  | { is: 'deny', reason: string }
  /** Of rehearsals: the call is answered and not run. */
  | { is: 'answer', output: ToolOutput }
  /** An open approval or question; with `asks`, a question that is not asked yet. */
  | { is: 'wait', asks?: true }
  /** It was decided before, or cannot run here. */
  | { is: 'ended', end: CallEnd }

/** A call of a step, with what the policies found out. It is checked when the step begins, and again right before it runs. */
export interface CheckedCall {
  readonly call: Call
  /** It changes nothing but the copy that its run works in: the copy, and the working folder of its box, if it is a command. */
  copied?: { copy: string, confinedTo?: WorkFolder }
  /** Concerns that a policy took back. */
  takenBack: Concern[]
  /** What was found about its addresses, and what its tool asks: no call of the same step changes that. */
  ownConcerns?: Concern[]
  /** A rehearsal lets it through. */
  isRehearsed?: true
}

/** The step that a call belongs to, as far as policies need it. */
export interface StepSoFar {
  run: { runId: string, cwd: string, signal: AbortSignal }
  policy: RunPolicy
  tools: Pick<
    ToolHost,
    'find' | 'permission' | 'isAllowedByUser' | 'identity' | 'toolServer' | 'boundary' | 'folders' | 'foresee' | 'copyAt'
  >
  /** Calls whose tools were about to start before. */
  begun: ReadonlySet<string>
  /** The newest approval of a call, and what answers the call in its tool's place, as the ledger has them. */
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
  /** Set in rehearsals, with the grants of the folder itself. */
  rehearsal?: Rehearsed & { grants: CallGrants }
}

/** One rule about calls. Each has its own file; POLICIES lists them in the order in which they are asked. */
export interface CallPolicy {
  name: string
  /** Ends the matter with a decision, or returns the reasons to ask: those it was given, with its own added or some taken back. */
  decide (checked: CheckedCall, step: StepSoFar, concerns: Concern[]): Promise<Decision | Concern[]>
}
