import { isUnanswered, type AppCallItem, type Owner } from '../../contracts/approval-record.ts'
import { approvalKey, taskApprovalKey } from '../keys.ts'

type AppCall = Owner & AppCallItem
type StoredRecord = [key: string, value: unknown]

/**
 * Returns a record of a backup as an import stores it. An application may have executed a call that was open in the backup since then,
 * and no person stands between an open call and its execution: the call counts as one whose claim was not renewed, so that its outcome
 * is unknown and it is never handed out again. Approvals and questions stay open, because a person decides them anew.
 */
export function importedRecord ([key, value]: StoredRecord): StoredRecord {
  if (!isCall(key, value) || !isUnanswered(value)) return [key, value]
  return [key, { ...value, state: 'claimed', claim: { instance: value.claim?.instance ?? 'unknown', until: 0 } } satisfies AppCall]
}

function isCall (key: string, value: unknown): value is AppCall {
  const { kind, approvalId } = value as Partial<AppCall>
  return kind === 'app' && approvalId !== undefined && [approvalKey(approvalId), taskApprovalKey(approvalId)].includes(key)
}
