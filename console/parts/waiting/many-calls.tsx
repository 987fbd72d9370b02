import { useMutation, useQueryClient } from '@tanstack/react-query'
import { createContext, useCallback, useContext, useEffect, useMemo, useRef, useState, type ReactNode } from 'react'
import { decideApproval, type Approval, type ApprovalDecision, type ApprovalPreview } from '../../../client/generated/index.ts'
import { AgentError } from '../../../client/errors.ts'
import { forgetDraft, readDraft } from '../../lib/draft.ts'
import { keys } from '../../lib/queries.ts'
import { say } from '../../lib/say.ts'
import { asked, body } from '../../lib/service.ts'
import { useAnnounce } from '../announcer.tsx'
import { isOld } from './use-decision.ts'

/** How long after the last key the decisions made by keys are sent, in milliseconds. Until then they can be taken back. */
const SEND_AFTER_MS = 4_000

export type Verdict = 'allow' | 'deny'
type Decided = Array<[call: Approval, decision: ApprovalDecision]>
/**
 * The outcome of decisions that were sent together. `covered` counts calls that a scope approved, `gone` those that were decided elsewhere.
 */
interface Outcome {
  allowed: number
  denied: number
  covered: number
  gone: number
}

/** The waiting calls of a page, and the decisions about them. */
interface Deciding {
  calls: readonly Approval[]
  checked: ReadonlySet<string>
  check: (approvalIds: readonly string[], isChecked: boolean) => void
  /** Decisions that were made by keys and are not sent yet. */
  staged: ReadonlyMap<string, Verdict>
  stage: (approvalId: string, verdict: Verdict) => void
  /** Takes back all decisions that are not sent yet. */
  takeBack: () => void
  /** Sends decisions about these calls, one after the other. Decisions about old calls must be sent a second time as a confirmation. */
  send: (decided: Decided) => void
  asksAgain: boolean
  isPending: boolean
  error: unknown
  outcome?: string
}

const Context = createContext<Deciding | undefined>(undefined)

/** The decisions about many calls of this page; undefined on pages where calls are decided one by one. */
export const useManyCalls = () => useContext(Context)

const isCall = ({ kind, state }: Approval) => kind === 'tool' && state === 'pending'
const isGone = (thrown: unknown) => thrown instanceof AgentError && [404, 409, 410].includes(thrown.statusCode ?? 0)

/** Provides the joint decision about the calls among these approvals, with checkboxes and keys. */
export function ManyCalls ({ approvals, children }: { approvals: readonly Approval[], children: ReactNode }) {
  const calls = useMemo(() => approvals.filter(isCall), [approvals])
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set())
  const checked = useMemo(() => new Set(calls.flatMap(({ approvalId }) => marked.has(approvalId) ? approvalId : [])), [calls, marked])
  const check = useCallback((approvalIds: readonly string[], isChecked: boolean) => setMarked((before) => {
    const after = new Set(before)
    for (const id of approvalIds) isChecked ? after.add(id) : after.delete(id)
    return after
  }), [])
  const sending = useSend()
  const staging = useStaged(calls, sending.send)
  const many = useMemo(() => ({ calls, checked, check, ...sending, ...staging }), [calls, checked, check, sending, staging])
  return <Context.Provider value={many}>{children}</Context.Provider>
}

/**
 * Returns the function that sends decisions one after the other, each with the digest of the preview that was shown, and announces the
 * outcome.
 */
function useSend () {
  const queries = useQueryClient()
  const announce = useAnnounce()
  const [asksAgain, setAsksAgain] = useState(false)
  const { mutate, isPending, error, data } = useMutation({
    async mutationFn (decided: Decided): Promise<Outcome> {
      const outcome: Outcome = { allowed: 0, denied: 0, covered: 0, gone: 0 }
      const released = new Set<string>()
      for (const [{ approvalId }, decision] of decided) {
        if (released.has(approvalId)) continue
        const preview = decision.approved ? queries.getQueryData<ApprovalPreview>([...keys.previews(), approvalId]) : undefined
        const bound = preview?.previewDigest !== undefined && { previewDigest: preview.previewDigest }
        try {
          const answer = await decideApproval({ ...asked(), path: { id: approvalId }, body: { ...decision, ...bound } }).then(body)
          for (const id of answer.released ?? []) released.add(id)
          outcome[decision.approved ? 'allowed' : 'denied']++
        } catch (thrown) {
          if (!isGone(thrown)) throw thrown
          outcome.gone++
        }
        forgetDraft(`reason ${approvalId}`)
      }
      return { ...outcome, covered: released.size }
    },
    onSuccess: (outcome) => announce(sayOutcome(outcome)),
    onSettled: () => void queries.invalidateQueries({ queryKey: keys.approvals() })
  })
  const send = useCallback((decided: Decided) => {
    const isAgain = asksAgain || !decided.some(([call]) => isOld(call))
    setAsksAgain(!isAgain)
    if (isAgain) mutate(decided)
    else announce(say('approval.old'))
  }, [asksAgain, mutate, announce])
  const outcome = data && sayOutcome(data)
  return useMemo(() => ({ send, asksAgain, isPending, error, outcome }), [send, asksAgain, isPending, error, outcome])
}

/** Returns the outcome of the decisions, such as "1 allowed. +43 allowed: the permission covers them." */
const sayOutcome = ({ allowed, denied, covered, gone }: Outcome): string => [
  allowed > 0 && say('approval.many.allowed', { count: allowed }),
  covered > 0 && say('approval.many.covered', { count: covered }),
  denied > 0 && say('approval.many.denied', { count: denied }),
  gone > 0 && say('approval.many.gone', { count: gone })
].filter(Boolean).join(' ')

const isTyping = () => document.activeElement?.matches('textarea, input:not([type=checkbox])') ?? false

/** Keeps decisions made by keys until they are sent. Until then, they can be taken back and given a reason. */
function useStaged (calls: readonly Approval[], send: Deciding['send']) {
  const [staged, setStaged] = useState<ReadonlyMap<string, Verdict>>(new Map())
  const latest = useRef({ calls, send, staged })
  useEffect(() => { latest.current = { calls, send, staged } })
  useEffect(() => {
    if (staged.size === 0) return
    const timer = setInterval(() => {
      if (isTyping()) return
      setStaged(new Map())
      sendStaged(latest.current)
    }, SEND_AFTER_MS)
    return () => clearInterval(timer)
  }, [staged])
  // Leaving the page sends the decisions.
  useEffect(() => () => sendStaged(latest.current), [])
  const stage = useCallback((approvalId: string, verdict: Verdict) => {
    if (latest.current.calls.some((call) => call.approvalId === approvalId)) setStaged((before) => new Map(before).set(approvalId, verdict))
  }, [])
  const takeBack = useCallback(() => setStaged(new Map()), [])
  return useMemo(() => ({ staged, stage, takeBack }), [staged, stage, takeBack])
}

function sendStaged ({ calls, send, staged }: Pick<Deciding, 'calls' | 'send' | 'staged'>): void {
  const decided = calls.flatMap((call): Decided => {
    const verdict = staged.get(call.approvalId)
    return verdict === undefined ? [] : [[call, decisionOf(call, verdict)]]
  })
  if (decided.length > 0) send(decided)
}

/** Returns the decision about one of many calls, with the reason that was typed for this call. */
export function decisionOf ({ approvalId }: Approval, verdict: Verdict): ApprovalDecision {
  const reason = readDraft(`reason ${approvalId}`).trim()
  return { approved: verdict === 'allow', ...(reason !== '' && { reason }) }
}
