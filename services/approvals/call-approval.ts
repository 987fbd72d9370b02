import type { CallApproval } from '../step/call-ports.ts'
import { DENIED, type ToolItem } from './approval-record.ts'
import { shownFolder } from './approved-folder.ts'

/** Returns the approval of a call as its step sees it. An approval that cannot be answered any more counts as expired. */
export function callApproval (approval: ToolItem, isOpen: boolean): CallApproval {
  const { approvalId, state, identity, reason = DENIED } = approval
  const known = { approvalId, identity, folder: shownFolder(approval), reason }
  switch (state) {
    case 'approved':
    case 'denied':
      return { ...known, state }
    case 'executing':
    case 'unknown':
      return { ...known, state: 'begun' }
    default:
      return { ...known, state: isOpen ? 'open' : 'expired' }
  }
}
