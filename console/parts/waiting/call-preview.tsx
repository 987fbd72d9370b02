import { useQuery } from '@tanstack/react-query'
import { previewApproval, type Approval, type ApprovalPreview } from '../../../client/generated/index.ts'
import { keys } from '../../lib/queries.ts'
import { say } from '../../lib/say.ts'
import { asked, body } from '../../lib/service.ts'
import { Diff } from '../diff/diff.tsx'
import { VisibleText } from '../visible-text.tsx'

/** Reads what an open call would change, as the files are now. The files may change without an event: each look reads anew. */
export function usePreview ({ approvalId, kind, state }: Approval): ApprovalPreview | undefined {
  const { data } = useQuery({
    queryKey: [...keys.approvals(), approvalId, 'preview'],
    queryFn: () => previewApproval({ ...asked(), path: { id: approvalId } }).then(body),
    enabled: kind === 'tool' && state === 'pending',
    staleTime: 0
  })
  return data
}

/** The real paths that a call would change, with the difference of a file that it writes. */
export function CallPreview ({ changes, refused }: ApprovalPreview) {
  if (refused !== undefined) {
    return <p className='note note-warn'>{say('approval.wouldFail')} <VisibleText text={refused} /></p>
  }
  if (changes.length === 0) return null
  return (
    <ul className='call-changes'>
      {changes.map(({ path, withContents, diff }) => (
        <li key={path}>
          <p>
            <span className='quiet'>{say(withContents ? 'approval.changesWithContents' : 'approval.changes')}</span>{' '}
            <code><VisibleText text={path} limit={Infinity} /></code>
          </p>
          {diff !== undefined && <Diff diff={diff} />}
        </li>
      ))}
    </ul>
  )
}
