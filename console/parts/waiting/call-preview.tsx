import { useQuery } from '@tanstack/react-query'
import { previewApproval, type Approval, type ApprovalPreview } from '../../../client/generated/index.ts'
import { keys } from '../../lib/queries.ts'
import { say } from '../../lib/say.ts'
import { asked, body } from '../../lib/service.ts'
import { ChangeList } from '../changes/change-list.tsx'
import { ChangeRow } from '../changes/change-row.tsx'
import { VisibleText } from '../visible-text.tsx'

/** Up to this number of changes, the diffs are expanded at first. */
const OPEN_AT_FIRST = 5

/** Reads the preview of an open call's changes. Files can change without an event, so it is read again whenever it is shown. */
export function usePreview ({ approvalId, kind, state }: Approval): ApprovalPreview | undefined {
  const { data } = useQuery({
    queryKey: [...keys.previews(), approvalId],
    queryFn: () => previewApproval({ ...asked(), path: { id: approvalId } }).then(body),
    enabled: kind === 'tool' && state === 'pending',
    staleTime: 0
  })
  return data
}

/** The real paths that a call would change, with the diff of each written file. */
export function CallPreview ({ changes, note, refused, ran }: ApprovalPreview) {
  if (refused !== undefined) {
    return <p className='note note-warn'>{say('approval.wouldFail')} <VisibleText text={refused} /></p>
  }
  return (
    <>
      {note !== undefined && <p className='note note-warn'><VisibleText text={note} /></p>}
      {ran && <Ran {...ran} isIdle={changes.length === 0} />}
      {changes.length > 0 && (
        <div role='group' aria-label={say('approval.changes')}>
          <p className='quiet'>{say('approval.changes')}</p>
          <ChangeList changes={changes}>
            {(change) => <ChangeRow change={change} isOpenAtFirst={changes.length <= OPEN_AT_FIRST} />}
          </ChangeList>
        </div>
      )}
    </>
  )
}

/** The outcome of a command that was tried out. */
function Ran ({ exitCode, stdout, stderr, note, isIdle }: NonNullable<ApprovalPreview['ran']> & { isIdle: boolean }) {
  const output = [stdout, stderr].filter((text) => text !== '').join('\n')
  return (
    <div className='note'>
      <p>
        {say('approval.tried.ended', { code: exitCode ?? '-' })} {isIdle && say('approval.tried.nothing')}{' '}
        <span className='quiet'>{note}</span>
      </p>
      {output !== '' && <pre><VisibleText text={output} /></pre>}
    </div>
  )
}
