import type { ApprovalView, DecidedApproval } from '../../schemas/approvals.ts'
import type { DecidingDevice } from '../../schemas/deciding-device.ts'
import type { DeviceDecision, OpenRequests, ShownRequest } from '../../schemas/devices.ts'
import type { Inbox } from '../approvals/index.ts'
import { inputDigest } from '../lib/canonical-json.ts'
import { createSemaphore } from '../lib/semaphore.ts'
import { ServiceError } from '../lib/service-error.ts'
import type { Devices } from './devices.ts'
import { DecidedElsewhere, RequestChanged, TooManyLooks } from './reach-errors.ts'

/** The most requests in a list. Further requests appear when earlier ones are decided. */
const LISTED = 100

/**
 * Returns the answers that a device can give to a request: only answers that apply to this request alone. A
 * request that needs words or a choice, or whose approval applies to later calls, cannot be approved on a device.
 */
function answersTo ({ kind, budget }: ApprovalView): ShownRequest['answers'] {
  switch (kind) {
    case 'tool':
    case 'result':
      return ['once', 'deny']
    case 'question':
      // A yes is enough to allow more of a budget, and when that is spent, the service asks again.
      return budget === undefined ? ['deny'] : ['once', 'deny']
    case 'server':
    case 'task':
      return []
  }
}

export type DeviceRequests = ReturnType<typeof createDeviceRequests>

/**
 * Creates the view of approval requests for paired devices, on which a person sees and decides them. A decision
 * goes through the inbox, as every other decision does.
 */
export function createDeviceRequests ({ inbox, devices, say }: {
  inbox: Pick<Inbox, 'list' | 'open' | 'preview' | 'decide'>
  devices: Pick<Devices, 'assertPaired'>
  /** Describes a tool call in words for the user. */
  say: (call: { toolName: string, input: unknown }) => { text: string }
}) {
  // Limited, because a preview reads files and computes diffs.
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

  /**
   * Returns a request with a preview of the changes that it would make now, and a digest of all that is shown.
   * Throws as the inbox does, or TooManyLooks (429).
   */
  const show = (approvalId: string, signal: AbortSignal): Promise<ShownRequest> =>
    looks.run(signal, async () => {
      const request = await inbox.open(approvalId)
      const preview = request.kind === 'tool' ? await inbox.preview(approvalId, signal) : { changes: [] }
      const seen = { title: titleOf(request), request, preview, answers: answersTo(request) }
      return { ...seen, digest: inputDigest(seen) }
    })

  return {
    /** Lists the requests that wait for the person, the oldest first. */
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
     * Decides a request that was shown. The decision applies to this call alone, and teaches no task anything. Repeating the
     * same decision from the same device has no effect. Throws RequestChanged (409) if the request has changed since it was
     * shown, DecidedElsewhere (403) for an answer that a device cannot give, NotPaired (401), and the errors of the inbox.
     */
    async decide (
      device: DecidingDevice,
      approvalId: string,
      { answer, digest }: DeviceDecision,
      signal: AbortSignal
    ): Promise<Pick<DecidedApproval, 'approvalId' | 'state'>> {
      const approved = answer === 'once'
      const seen = await show(approvalId, signal).catch((error) => {
        // The earlier decision might be this device's own, whose response was lost. The inbox checks that.
        if (error instanceof ServiceError && error.code === 'ERR_APPROVAL_DECIDED') return undefined
        throw error
      })
      if (seen !== undefined && seen.digest !== digest) throw new RequestChanged(approvalId)
      if (seen !== undefined && !seen.answers.includes(answer)) throw new DecidedElsewhere()
      await devices.assertPaired(device)
      const { state } = await inbox.decide(approvalId, {
        approved,
        // The scope `once` grants nothing for later calls and teaches a task nothing.
        ...(approved && seen?.request.kind === 'tool' && { scope: 'once' as const, previewDigest: seen.preview.previewDigest })
      }, signal, device)
      return { approvalId, state }
    }
  }
}
