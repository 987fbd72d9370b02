import { useMutation } from '@tanstack/react-query'
import { previewCorrection, type Approval } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'
import { asked, body } from '../../lib/service.ts'
import { Button } from '../button.tsx'
import { Failed } from '../failed.tsx'
import { CallPreview } from './call-preview.tsx'

/** Runs a command on a throwaway copy, and shows its output and its changes. */
export function TryOut ({ approvalId }: Pick<Approval, 'approvalId'>) {
  const look = useMutation({ mutationFn: () => previewCorrection({ ...asked(), path: { id: approvalId }, body: {} }).then(body) })
  return (
    <div className='try-out'>
      <Button isBusy={look.isPending} onClick={() => look.mutate()}>{say('approval.tryOut')}</Button>
      {look.error !== null && <Failed error={look.error} />}
      {look.data && <CallPreview {...look.data} />}
    </div>
  )
}
