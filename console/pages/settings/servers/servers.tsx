import { say } from '../../../lib/say.ts'
import { useServers } from '../../../lib/servers.ts'
import { Empty } from '../../../parts/empty.tsx'
import { Loaded } from '../../../parts/loaded.tsx'
import { AddServer } from './add-server.tsx'
import { ServerItem } from './server-item.tsx'

/** The tool servers with their states, and the form that adds one. */
export function Servers () {
  const servers = useServers({ shown: true })
  const now = servers.dataUpdatedAt
  return (
    <>
      <Loaded query={servers}>
        {({ servers }) => servers.length === 0
          ? <Empty text={say('settings.noServers')} />
          : <ul className='list'>{servers.map((server) => <ServerItem key={server.name} server={server} now={now} />)}</ul>}
      </Loaded>
      <section className='section'>
        <h2>{say('settings.addServer')}</h2>
        <AddServer />
      </section>
    </>
  )
}
