import { Plus } from 'lucide-react'
import { useState } from 'react'
import { say } from '../../../lib/say.ts'
import { useServers } from '../../../lib/servers.ts'
import { Button } from '../../../parts/button.tsx'
import { Empty } from '../../../parts/empty.tsx'
import { Loaded } from '../../../parts/loaded.tsx'
import { AddServer } from './add-server.tsx'
import { PasteServers } from './paste-servers.tsx'
import { ServerItem } from './server-item.tsx'

/** The tool servers with their states, and the form that adds one. The form is open if there is no server; otherwise the user opens it. */
export function Servers () {
  const servers = useServers({ shown: true })
  const now = servers.dataUpdatedAt
  const [isAsked, setIsAsked] = useState<'pressed' | 'none'>()
  const hasNone = servers.data?.servers.length === 0
  // Keeps the form open after the first server was added, because it shows the outcome.
  if (hasNone && isAsked === undefined) setIsAsked('none')
  return (
    <>
      <Loaded query={servers}>
        {({ servers }) => servers.length === 0
          ? <Empty text={say('settings.noServers')} />
          : <ul className='list'>{servers.map((server) => <ServerItem key={server.name} server={server} now={now} />)}</ul>}
      </Loaded>
      {isAsked
        ? (
          <section className='section'>
            <h2>{say('settings.addServer')}</h2>
            <PasteServers />
            <h3>{say('settings.orByHand')}</h3>
            <AddServer autoFocus={isAsked === 'pressed'} />
          </section>
          )
        : <div><Button onClick={() => setIsAsked('pressed')}><Plus /> {say('settings.addServer')}</Button></div>}
    </>
  )
}
