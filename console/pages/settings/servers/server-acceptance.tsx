import type { ToolServerDetail } from '../../../../client/generated/index.ts'
import { say } from '../../../lib/say.ts'
import { useAnnounce } from '../../../parts/announcer.tsx'
import { Button } from '../../../parts/button.tsx'
import { Failed } from '../../../parts/failed.tsx'
import { useAccept, useTakeBack } from './server-queries.ts'

/** Says how many tools of a server run unasked since its user accepted them, and accepts or takes back. */
export function ServerAcceptance ({ server: { name, status, approval, digest, toolDetails } }: { server: ToolServerDetail }) {
  const accept = useAccept(name)
  const takeBack = useTakeBack(name)
  const announce = useAnnounce()
  const reading = toolDetails.filter(({ annotations }) => annotations?.readOnlyHint === true)
  const accepted = reading.filter(({ acceptance }) => acceptance === 'accepted').length
  const error = accept.error ?? takeBack.error
  if (approval !== undefined || reading.length === 0) return null
  return (
    <section className='section'>
      <p>{say('settings.runUnasked', { count: accepted, all: reading.length })}</p>
      <div className='actions'>
        {accepted < reading.length && status === 'connected' && (
          <Button isBusy={accept.isPending} onClick={() => accept.mutate(digest, { onSuccess: () => announce(say('settings.accepted')) })}>
            {say('settings.acceptTools', { count: reading.length })}
          </Button>
        )}
        {accepted > 0 && (
          <Button
            kind='quiet'
            isBusy={takeBack.isPending}
            onClick={() => takeBack.mutate(undefined, { onSuccess: () => announce(say('settings.takenBack')) })}
          >
            {say('settings.takeBack')}
          </Button>
        )}
      </div>
      {error !== null && <Failed error={error} />}
    </section>
  )
}
