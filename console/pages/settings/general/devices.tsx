import { useQuery } from '@tanstack/react-query'
import { listDevices, removeDevice } from '../../../../client/generated/index.ts'
import { keys, queries } from '../../../lib/queries.ts'
import { say } from '../../../lib/say.ts'
import { asked, body } from '../../../lib/service.ts'
import { Confirm } from '../../../parts/confirm.tsx'
import { Loaded } from '../../../parts/loaded.tsx'
import { ServiceText } from '../../../parts/service-text.tsx'
import { Time } from '../../../parts/time.tsx'
import { VisibleText } from '../../../parts/visible-text.tsx'

/** The paired phones, which can decide approvals, and how to pair another one. The secret of a pairing code is shown only in a terminal. */
export function Devices () {
  // There is no event for a new pairing, so the list is always stale.
  const query = useQuery({ queryKey: keys.devices(), queryFn: () => listDevices(asked()).then(body), staleTime: 0 })
  return (
    <section className='section' aria-label={say('devices.title')}>
      <h2>{say('devices.title')}</h2>
      <p className='quiet'>{say('devices.text')}</p>
      <Loaded query={query}>
        {({ devices, url, address = url, problem }) => (
          <>
            {problem !== undefined && <p className='note note-warn'><ServiceText text={problem} /></p>}
            {devices.length > 0 && (
              <ul className='list looks'>
                {devices.map(({ deviceId, name, lastUsedAt }) => (
                  <li key={deviceId} className='server-head agent-folder'>
                    <span>
                      <VisibleText text={name} limit={60} /> <span className='quiet'>{say('devices.used')} <Time at={lastUsedAt} /></span>
                    </span>
                    <Confirm
                      kind='quiet' label={say('devices.remove')} title={say('devices.removeTitle')}
                      text={<p><VisibleText text={name} limit={60} /></p>}
                      onConfirm={async () => {
                        await removeDevice({ ...asked(), path: { id: deviceId } })
                        await queries.invalidateQueries({ queryKey: keys.devices() })
                      }}
                    />
                  </li>
                ))}
              </ul>
            )}
            <p>{say('devices.how')} <code className='unbroken'>local-agent reach</code></p>
            {address !== undefined && <p className='quiet'>{say('devices.address', { address })}</p>}
          </>
        )}
      </Loaded>
    </section>
  )
}
