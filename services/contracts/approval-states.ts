/**
 * The states of each kind of approval, and the states that may follow each of them. A state without followers is final. `tool`: `executing`
 * is stored before the tool starts; if it is found after a restart, it becomes `unknown`, and the call is never repeated. An approved call
 * that fails before its tool starts, or that only reads, becomes `done` at once; one that a new request replaces becomes `withdrawn`.
 * `result`: one that the result of a newer run replaces becomes `withdrawn`. `app`: a chat client sends a result without claiming the call
 * first; when a claim is not renewed, the state becomes `unknown`.
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

/** Whether an approval of that kind may go from one state to the other. */
export function mayFollow (kind: ApprovalKind, from: string, to: string): boolean {
  const following: Record<string, readonly string[]> = TRANSITIONS[kind]
  return Object.hasOwn(following, from) && following[from].includes(to)
}

/**
 * Returns the approval in another state; if it is in that state already, it is returned unchanged. Throws an Error for a state that may not
 * follow, which is a mistake of the caller: answers of clients are checked before.
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
