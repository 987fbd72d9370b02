import type { Owner, AppCallItem } from '../../contracts/approval-record.ts'
import { defineError } from '../../lib/service-error.ts'
import { canonicalJson } from '../../lib/canonical-json.ts'
import { inState } from '../../contracts/approval-states.ts'
import { closeOverdue } from '../decide-approval.ts'

export const AppCallNotFound = defineError(
  'ERR_TOOL_CALL_NOT_FOUND',
  'There is no call "%s" of a tool of an application. GET /tool-calls lists the open ones.'
)
export const AppCallNotApproved = defineError(
  'ERR_TOOL_CALL_NOT_APPROVED',
  'The call "%s" waits for an approval: POST /approvals/%s decides it. Execute the call when it is handed out; this result was not taken.'
)
const AppCallClaimed = defineError('ERR_TOOL_CALL_CLAIMED', 'The call "%s" is claimed by %s, which executes it.')
const AppCallAnswered = defineError('ERR_TOOL_CALL_ANSWERED', 'The call "%s" has another answer already; the first one is kept.')
const AppCallWithdrawn = defineError(
  'ERR_TOOL_CALL_WITHDRAWN',
  'The call "%s" was withdrawn, because %s; its answer is not needed any more.'
)
const AppCallExpired = defineError('ERR_TOOL_CALL_EXPIRED', 'The call "%s" cannot be answered any more: %s.')
const OutputTooLarge = defineError(
  'ERR_TOOL_OUTPUT_TOO_LARGE',
  'The answer to the call "%s" has %d bytes of JSON; at most %d are taken. Return the part that the agent needs.'
)
export const BadToolCallAnswer = defineError('ERR_INVALID_REQUEST', '%s')

/** A call that an application executes, in a conversation or a task. */
export type AppCall<O extends Owner = Owner> = O & AppCallItem
/**
 * The end of a call, as the application reports it. `isWrapped`: the application's output was not an object; `output` has it as the
 * property `result`.
 */
export type AppResult = { output: Record<string, unknown>, isWrapped?: true } | { errorText: string }
/**
 * What the application reports about a call: that its instance `claim` executes the call, or how the call ended. A result without `claim`
 * is accepted from any client, because chat clients do not claim calls.
 */
export type AppCallAnswer = { claim: string, result?: AppResult } | { claim?: undefined, result: AppResult }

/** The time after which a claim ends unless it is renewed, milliseconds. */
const CLAIM_MS = 60_000
/** The largest answer, in bytes of JSON. */
const LARGEST_ANSWER = 1024 * 1024

/**
 * Returns the call with the answer; undefined if the same answer was given before. Throws AppCallClaimed, AppCallAnswered or
 * AppCallWithdrawn (409), AppCallExpired (410) or OutputTooLarge (413).
 */
export function answerAppCall<C extends AppCall> (call: C, { claim, result }: AppCallAnswer, now: number): C | undefined {
  const { approvalId: id } = call
  assertAnswerable(call, now)
  if (result !== undefined) assertSize(id, result)
  if (call.state === 'done' || call.state === 'error') {
    if (result === undefined || canonicalJson(resultOf(call)) !== canonicalJson(result)) throw new AppCallAnswered(id)
    return undefined
  }
  if (claim !== undefined && call.claim !== undefined && call.claim.instance !== claim) {
    throw new AppCallClaimed(id, JSON.stringify(call.claim.instance))
  }
  if (result !== undefined) return { ...inState(call, 'output' in result ? 'done' : 'error'), ...result }
  return { ...inState(call, 'claimed'), claim: { instance: claim!, until: Math.min(now + CLAIM_MS, call.expiresAt) } }
}

function assertAnswerable (call: AppCall, now: number): void {
  const { approvalId: id, state } = closeOverdue(call, now) ?? call
  if (state === 'withdrawn') {
    throw new AppCallWithdrawn(id, call.threadId === undefined ? 'its run has ended' : 'the user sent a new message or stopped the run')
  }
  if (state === 'expired') throw new AppCallExpired(id, 'nobody answered it in time, and the agent was told so')
  if (state === 'unknown') {
    throw new AppCallExpired(id, 'its claim was not renewed, and the agent was told that its outcome is unknown')
  }
}

const resultOf = ({ output, errorText, isWrapped }: AppCall): AppResult =>
  output === undefined ? { errorText: errorText! } : { output, ...(isWrapped && { isWrapped }) }

function assertSize (id: string, result: AppResult): void {
  const bytes = Buffer.byteLength(JSON.stringify(result))
  if (bytes > LARGEST_ANSWER) throw new OutputTooLarge(id, bytes, LARGEST_ANSWER)
}
