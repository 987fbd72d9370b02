import { type Approval, isUnanswered } from '../../contracts/approval-record.ts'

export type DueCalls = ReturnType<typeof createDueCalls>

/**
 * The times at which open calls of applications are overdue, by the ids of the calls; milliseconds since the Unix epoch. A time may be
 * of a call whose write has failed or that was answered meanwhile: who acts on it reads the call first.
 */
export function createDueCalls () {
  const times = new Map<string, number>()
  let changed = () => {}

  return {
    times: times as ReadonlyMap<string, number>,
    /** Follows a change of an item. */
    follow (item: Approval) {
      if (item.kind !== 'app') return
      if (isUnanswered(item)) times.set(item.approvalId, item.claim?.until ?? item.expiresAt)
      else times.delete(item.approvalId)
      changed()
    },
    set: (id: string, at: number) => void times.set(id, at),
    forget: (id: string) => void times.delete(id),
    /** Calls the listener when a time has changed. */
    onChange (listener: () => void) {
      changed = listener
    }
  }
}
