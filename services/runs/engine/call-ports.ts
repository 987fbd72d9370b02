import type { ToolProgress } from '../../../schemas/tool-progress.ts'
import type { Call, CallAnswer, CallApproval } from '../../contracts/call.ts'
import type { AddressGate, CallGrants } from '../../approvals/index.ts'
import type { Grant } from '../../contracts/grant-record.ts'
import type { EventOf, RunEvent } from '../../contracts/run-events.ts'
import type { Op } from '../../store/index.ts'
import type { Rehearsed } from '../../contracts/sheet-record.ts'
import type { ToolHost } from '../../tools/index.ts'
import type { CallQuestions, QuestionOutcome, Tool } from '../../contracts/tool.ts'
import { NOBODY_APPROVES } from '../../contracts/model-texts.ts'

/** The end of a call: its event, and what becomes of its approval, if it has one. */
export interface CallEnd {
  event: EventOf<'tool-output' | 'tool-error' | 'tool-denied'>
  state: 'done' | 'unknown' | 'denied' | 'expired'
  /** The duration of the call, milliseconds; absent if no tool ran. */
  durationMs?: number
  /** To be stored with it: what the call changed. */
  ops?: Op[]
}

/** What the calls of a step need of the run that they belong to. */
export interface CallPorts {
  tools: Pick<ToolHost, 'find' | 'identity' | 'toolServer' | 'boundary' | 'outlook' | 'keep' | 'execute' | 'folders' | 'foresee' | 'copyAt'>
  /** `owner` is the task, or the digest of the thread, that the run belongs to. */
  run: { runId: string, owner: string, attempt: number, cwd: string, signal: AbortSignal }
  /** The events of the run so far. */
  events: readonly RunEvent[]
  /** Whether a read that was interrupted is repeated when the run continues; otherwise it ends with an unknown outcome. */
  repeatsReads: boolean
  approvalOf: (toolCallId: string) => CallApproval | undefined
  /** Undefined for a call that was not handed to the user or the application. */
  answerOf: (toolCallId: string) => CallAnswer | undefined
  /** Whether a call of the tool needs an approval now. */
  needsApproval: (toolName: string) => boolean
  /** Decides about addresses that the model put together; absent where nobody is asked about them. */
  addresses?: AddressGate
  /** Returns why the tool itself has this call asked; undefined for one that may run. */
  question?: (call: Call) => Promise<{ reason: string } | undefined>
  /** The grants of the conversation or task. */
  grants: CallGrants
  /** Set in rehearsals: what reaches beyond the copy of the folder is not done. `grants` are those of the folder itself. */
  rehearsed?: Rehearsed & { grants: CallGrants }
  /** Set in runs that ask nobody: the reason of the denial of each call that needs an approval and has no grant. */
  deniesUngranted?: string
  /** Set in runs whose user answers no questions: the reason of the denial of a call that asks some. */
  deniesQuestions?: string
  /** Asks the user in the middle of a call; absent in runs that ask nobody. See `ToolContext.ask`. */
  ask?: (call: Call, questions: CallQuestions) => Promise<QuestionOutcome>
  /** Whether the user denied the same call (same tool, same input) before. */
  wasDenied: (call: Call) => boolean
  /** Throws when the outputs of the run have reached their limit. */
  checkLimit: () => void
  /**
   * Called before a tool starts. `ops`, and with `isDurable` an intent, must be on disk when the promise resolves, with the use of
   * `grant`, if the call has one. Resolves to false if the grant has ended meanwhile: then nothing was written, and the call must not run.
   */
  begin: (call: Call, isDurable: boolean, ops: Op[], grant?: Grant) => Promise<boolean>
  /** Shows readers how far a call is. */
  progress?: (call: Call, progress: ToolProgress) => void
  /** Stores the end of a call before readers see it. */
  end: (call: Call, end: CallEnd) => Promise<void>
  /** Stores something at once. */
  store: (ops: Op[]) => Promise<void>
}

const NO_QUESTIONS = 'The user cannot be asked in this run: decide yourself, and say what you assumed.'

/** Returns what the calls of a run meet that need a person: nothing, if the person is there; without `mayAsk`, no questions are asked. */
export function whoIsAsked (
  interactive: boolean | undefined,
  mayAsk = interactive === true
): Pick<CallPorts, 'deniesUngranted' | 'deniesQuestions'> {
  return {
    deniesUngranted: interactive === false ? NOBODY_APPROVES : undefined,
    deniesQuestions: mayAsk ? undefined : NO_QUESTIONS
  }
}

/** Returns the tools without those that ask the user, unless the run may ask. */
export const offeredTools = (tools: Tool[], mayAsk: boolean): Tool[] =>
  mayAsk ? tools : tools.filter(({ answeredBy }) => answeredBy?.by !== 'user')
