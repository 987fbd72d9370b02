import type { Client } from './create-client.ts'
import { AgentError } from './errors.ts'
import { decideApproval, listApprovals, type Answers, type RunStreamEvent } from './generated/index.ts'
import type { Handlers } from './run-types.ts'

/** Error codes that mean that the question was answered elsewhere, or that its call has ended. */
const OVER = new Set(['ERR_APPROVAL_DECIDED', 'ERR_APPROVAL_EXPIRED', 'ERR_APPROVAL_NOT_FOUND', 'ERR_APPROVAL_WITHDRAWN'])

interface LiveParts extends Pick<Handlers, 'ask' | 'signal'> {
  client: Client
  /** Aborted with the error when the handler has failed, or its answer could not be sent: the run waits for it, and writes nothing. */
  failed: AbortController
}

/** Answers questions that tool servers ask during their calls. The stream of the run is read meanwhile. */
export function createLiveAnswers ({ client, ask, signal, failed }: LiveParts) {
  const open = new Set<string>()

  async function send (approvalId: string, answers: Answers | false): Promise<void> {
    const body = answers === false ? { approved: false } : { answers }
    try {
      await decideApproval({ client, path: { id: approvalId }, body, signal, throwOnError: true })
    } catch (error) {
      if (!(error instanceof AgentError && OVER.has(error.code))) throw error
    }
  }

  /** Returns true if the question is open: a replayed stream also holds questions that are closed. */
  async function isOpen (approvalId: string): Promise<boolean> {
    const { data } = await listApprovals({ client, query: { kind: 'question', limit: 500 }, signal, throwOnError: true })
    return data.approvals.some((approval) => approval.approvalId === approvalId)
  }

  const inBackground = (work: Promise<void>) => {
    work.catch((error) => failed.abort(error))
  }

  return {
    /** Passes an open live question to the handler `ask`. */
    take (event: RunStreamEvent): void {
      failed.signal.throwIfAborted()
      if (event.type === 'question-closed') open.delete(event.approvalId)
      if (event.type !== 'question-request' || !event.live || open.has(event.approvalId)) return
      const { approvalId } = event
      open.add(approvalId)
      if (ask === undefined) return
      inBackground((async () => {
        if (await isOpen(approvalId)) await send(approvalId, await ask(event))
      })())
    },

    has: (approvalId: string): boolean => open.has(approvalId),
    answer: (approvalId: string, answers: Answers | false): void => inBackground(send(approvalId, answers))
  }
}
