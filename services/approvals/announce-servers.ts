import type { ApprovalView } from '../../schemas/approvals.ts'
import type { StreamEvent } from '../../schemas/stream-events.ts'
import type { Clock } from '../lib/clock.ts'

/** Returns a function that is given the servers which wait to be accepted, and tells of each when it comes and when it goes, once. */
export function announceServers ({ clock, emit }: { clock: Clock, emit: (event: StreamEvent) => void }) {
  let open = new Map<string, ApprovalView>()
  return (items: ApprovalView[]) => {
    const now = new Map(items.map((item) => [item.approvalId, item]))
    const tell = (type: 'approval:open' | 'approval:closed', approvalId: string, state: string) =>
      emit({ type, kind: 'server', approvalId, state, at: clock.now() })
    for (const id of open.keys()) if (!now.has(id)) tell('approval:closed', id, 'withdrawn')
    for (const id of now.keys()) if (!open.has(id)) tell('approval:open', id, 'pending')
    open = now
  }
}
