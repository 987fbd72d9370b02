/**
 * The states of each kind of approval, each with the states that can follow it. A state without followers is final.
 * `tool`: `executing` is stored before the tool starts. If a restart finds this state, it becomes `unknown`, and the call is
 * never repeated. An approved call that fails before its tool starts, or that only reads, becomes `done` at once; a call that
 * a new request replaces becomes `withdrawn`.
 * `result`: becomes `withdrawn` if the result of a newer run replaces it.
 * `app`: a chat client sends a result without claiming the call first. If a claim is not renewed, the state becomes `unknown`.
 */
export const TRANSITIONS = {
  tool: {
    pending: ['approved', 'denied', 'expired', 'withdrawn'],
    approved: ['executing', 'done', 'withdrawn'],
    denied: [],
    executing: ['done', 'unknown'],
    done: [],
    unknown: [],
    expired: [],
    withdrawn: []
  },
  result: { pending: ['approved', 'denied', 'expired', 'withdrawn'], approved: [], denied: [], expired: [], withdrawn: [] },
  question: { pending: ['answered', 'declined', 'expired', 'withdrawn'], answered: [], declined: [], expired: [], withdrawn: [] },
  task: { pending: ['answered', 'withdrawn'], answered: [], withdrawn: [] },
  app: {
    open: ['claimed', 'done', 'error', 'expired', 'withdrawn'],
    claimed: ['done', 'error', 'unknown', 'withdrawn'],
    done: [],
    error: [],
    unknown: [],
    expired: [],
    withdrawn: []
  }
} as const

type ApprovalKind = keyof typeof TRANSITIONS
export type StateOf<K extends ApprovalKind> = keyof typeof TRANSITIONS[K] & string

/** Whether an approval of this kind can change from one state to the other. */
export function mayFollow (kind: ApprovalKind, from: string, to: string): boolean {
  const following: Record<string, readonly string[]> = TRANSITIONS[kind]
  return Object.hasOwn(following, from) && following[from].includes(to)
}

/**
 * Returns the approval in another state; unchanged if it already has that state. Throws an Error if the state cannot follow. That is a
 * programming error, because answers of clients are checked before.
 */
export function inState<A extends { kind: ApprovalKind, state: string, approvalId: string }, S extends A['state']> (
  approval: A,
  state: S
): A & { state: S } {
  if (approval.state !== state && !mayFollow(approval.kind, approval.state, state)) {
    throw new Error(`approval ${approval.approvalId} of kind ${approval.kind} cannot go from ${approval.state} to ${state}`)
  }
  return { ...approval, state }
}
