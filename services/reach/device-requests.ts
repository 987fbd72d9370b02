import type { ApprovalView, DecidedApproval } from '../../schemas/approvals.ts'
import type { DecidingDevice } from '../../schemas/deciding-device.ts'
import type { DeviceDecision, OpenRequests, ShownRequest } from '../../schemas/devices.ts'
import type { Inbox } from '../approvals/index.ts'
import { inputDigest } from '../lib/canonical-json.ts'
import { createSemaphore } from '../lib/semaphore.ts'
import { ServiceError } from '../lib/service-error.ts'
import type { Devices } from './devices.ts'
import { DecidedElsewhere, RequestChanged, TooManyLooks } from './reach-errors.ts'

/** Requests that a list names. Those behind them come when these are decided. */
const LISTED = 100

/**
 * Returns the answers that a device may give to a request: those that hold for this request alone. Other kinds need words or a choice, or
 * hold for later calls.
 */
function answersTo ({ kind, budget }: ApprovalView): ShownRequest['answers'] {
  switch (kind) {
    case 'tool':
    case 'result':
      return ['once', 'deny']
    case 'question':
      // More of a budget is allowed by a yes alone, and asked about again when that is spent.
      return budget === undefined ? ['deny'] : ['once', 'deny']
    case 'server':
    case 'task':
      return []
  }
}

export type DeviceRequests = ReturnType<typeof createDeviceRequests>

/** The requests for approval as a device of the person sees and decides them. A decision goes through the inbox, as every other does. */
export function createDeviceRequests ({ inbox, devices, say }: {
  inbox: Pick<Inbox, 'list' | 'open' | 'preview' | 'decide'>
  devices: Pick<Devices, 'assertPaired'>
  /** Says what a call does, in words. */
  say: (call: { toolName: string, input: unknown }) => { text: string }
}) {
  // A preview reads files, and makes diffs of them.
  const looks = createSemaphore({ limit: 2, maxQueued: 16, busy: () => new TooManyLooks() })

  function titleOf ({ kind, toolName, input, correctedInput, questions, server, text }: ApprovalView): string {
    switch (kind) {
      case 'tool':
        return say({ toolName: toolName!, input: correctedInput ?? input }).text
      case 'result':
        return 'accept the result of a task'
      case 'question':
        return questions?.[0]?.text ?? 'answer a question'
      case 'server':
        return `accept the tools of the server “${server ?? ''}”`
      case 'task':
        return text ?? 'decide about a task'
    }
  }

  /** Returns a request with what it would change now, and the digest of both. Throws as the inbox does, or TooManyLooks (429). */
  const show = (approvalId: string, signal: AbortSignal): Promise<ShownRequest> =>
    looks.run(signal, async () => {
      const request = await inbox.open(approvalId)
      const preview = request.kind === 'tool' ? await inbox.preview(approvalId, signal) : { changes: [] }
      const seen = { title: titleOf(request), request, preview, answers: answersTo(request) }
      return { ...seen, digest: inputDigest(seen) }
    })

  return {
    /** Lists what waits for the person, the oldest first. */
    async list (): Promise<OpenRequests> {
      const { approvals, nextCursor } = await inbox.list({ limit: LISTED })
      const requests = approvals.map((item) => {
        const { approvalId, kind, createdAt, expiresAt } = item
        return { approvalId, kind, title: titleOf(item), createdAt, expiresAt }
      })
      return { requests, more: nextCursor !== undefined }
    },

    show,

    /**
     * Decides a request as it was shown. The decision holds for this call alone, and teaches no task anything. The same decision of the
     * same device again has no effect. Throws RequestChanged (409) when it is not as it was shown, DecidedElsewhere (403) for an answer
     * that a device cannot give, NotPaired (401), and what the inbox throws.
     */
    async decide (
      device: DecidingDevice,
      approvalId: string,
      { answer, digest }: DeviceDecision,
      signal: AbortSignal
    ): Promise<Pick<DecidedApproval, 'approvalId' | 'state'>> {
      const approved = answer === 'once'
      const seen = await show(approvalId, signal).catch((error) => {
        // It may be this device's own decision, whose answer was lost: the inbox knows.
        if (error instanceof ServiceError && error.code === 'ERR_APPROVAL_DECIDED') return undefined
        throw error
      })
      if (seen !== undefined && seen.digest !== digest) throw new RequestChanged(approvalId)
      if (seen !== undefined && !seen.answers.includes(answer)) throw new DecidedElsewhere()
      await devices.assertPaired(device)
      const { state } = await inbox.decide(approvalId, {
        approved,
        // By this scope nothing later is granted, and a task learns nothing.
        ...(approved && seen?.request.kind === 'tool' && { scope: 'once' as const, previewDigest: seen.preview.previewDigest })
      }, signal, device)
      return { approvalId, state }
    }
  }
}
