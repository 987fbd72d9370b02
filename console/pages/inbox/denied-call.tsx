import { useState } from 'react'
import { Link } from 'wouter'
import { addGrant } from '../../../client/generated/index.ts'
import { useKeptFocus } from '../../lib/keep-focus.ts'
import { keys, queries } from '../../lib/queries.ts'
import { say } from '../../lib/say.ts'
import { asked } from '../../lib/service.ts'
import { useAnnounce } from '../../parts/announcer.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Covers } from '../../parts/covers.tsx'
import { SaidCall } from '../../parts/said-call.tsx'
import { CallInput } from '../../parts/waiting/call-input.tsx'
import type { Denied } from './desk-rows.ts'
import { DeskLine } from './desk-lines.tsx'

/** A call that was denied because no grant covered it, with the grant that would cover it and a button that creates this grant. */
export function DeniedCall ({ runId, toolName, about, count, grant, covers = '', isGranted }: Denied) {
  const announce = useAnnounce()
  const [hasActed, setHasActed] = useState(false)
  const element = useKeptFocus(isGranted, hasActed)
  return (
    <DeskLine state='denied'>
      <div ref={element} tabIndex={-1}>
        <Link href={`/runs/${runId}`}><SaidCall toolName={toolName} about={about} /></Link>
        {count > 1 && <span className='quiet'> · {say('inbox.deniedTimes', { count })}</span>}
      </div>
      {grant === undefined && <p className='quiet'>{say(isGranted ? 'inbox.granted' : 'inbox.noGrant')}</p>}
      {grant !== undefined && (
        <>
          <p>{say('inbox.wouldAllow')} <Covers text={covers} /></p>
          <Confirm
            label={say('inbox.allow')}
            title={say('inbox.allowTitle')}
            text={
              <>
                <p><Covers text={covers} /></p>
                <p className='quiet'>{say('inbox.allowText')}</p>
                <CallInput input={grant.input} />
              </>
            }
            does='allow'
            onConfirm={async () => {
              await addGrant({ ...asked(), body: grant })
              setHasActed(true)
              announce(say('inbox.granted'))
              await Promise.all([keys.grants(), keys.digest()].map((queryKey) => queries.invalidateQueries({ queryKey })))
            }}
          />
        </>
      )}
    </DeskLine>
  )
}
