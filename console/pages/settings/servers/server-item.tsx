import { useState } from 'react'
import type { ToolServer } from '../../../../client/generated/index.ts'
import { say } from '../../../lib/say.ts'
import { useAnnounce } from '../../../parts/announcer.tsx'
import { Button } from '../../../parts/button.tsx'
import { Confirm } from '../../../parts/confirm.tsx'
import { Dialog } from '../../../parts/dialog.tsx'
import { Status } from '../../../parts/status.tsx'
import { ServerDetails } from './server-details.tsx'
import { useDisconnect } from './server-queries.ts'

/** One tool server: its state, why it is not connected, and what can be done. */
export function ServerItem ({ server: { name, status, tools, error } }: { server: ToolServer }) {
  const [isShown, setIsShown] = useState(false)
  const disconnect = useDisconnect()
  const announce = useAnnounce()
  return (
    <li className='server'>
      <div className='server-head'>
        <p><span className='server-name'>{name}</span> <Status value={status} /></p>
        <div className='actions'>
          <Button onClick={() => setIsShown(true)}>{say('settings.details')}</Button>
          <Confirm
            kind='quiet'
            label={say('settings.disconnect')}
            title={say('settings.disconnectTitle', { name })}
            text={say('settings.disconnectText')}
            action={say('settings.disconnect')}
            onConfirm={() => disconnect.mutateAsync(name).then(() => announce(say('settings.disconnected', { name })))}
          />
        </div>
      </div>
      {error !== undefined && <p className='bad'>{error}</p>}
      {tools.length > 0 && <p className='quiet'>{say('settings.tools')}: {tools.slice(0, 12).join(', ')}{tools.length > 12 && ' …'}</p>}
      <Dialog title={say('settings.toolsOf', { name })} isOpen={isShown} onClose={() => setIsShown(false)}>
        <ServerDetails name={name} />
      </Dialog>
    </li>
  )
}
