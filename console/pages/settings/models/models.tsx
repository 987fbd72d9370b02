import { useQuery } from '@tanstack/react-query'
import { Fragment } from 'react'
import { health } from '../../../../client/generated/index.ts'
import { keys } from '../../../lib/queries.ts'
import { plainWords } from '../../../lib/plain-words.ts'
import { say } from '../../../lib/say.ts'
import { asked, body } from '../../../lib/service.ts'
import { Loaded } from '../../../parts/loaded.tsx'
import { VisibleText } from '../../../parts/visible-text.tsx'
import { ActiveModel } from './active-model.tsx'
import { Discovery } from './discovery.tsx'
import { useProviders } from '../../../parts/models/model-queries.ts'
import { ProviderTable } from './provider-table.tsx'

const ROLES = [
  { role: 'capable', name: 'settings.roleCapable' },
  { role: 'fast', name: 'settings.roleFast' },
  { role: 'vision', name: 'settings.roleVision' }
] as const
const REACH = { machine: 'settings.reachMachine', network: 'settings.reachNetwork', cloud: 'settings.reachCloud' } as const

/** The model in use, the keys of providers, and model servers on this machine. */
export function Models () {
  const providers = useProviders()
  const { data: state } = useQuery({ queryKey: keys.health(), queryFn: () => health(asked()).then(body) })
  const problem = state?.checks.model
  return (
    <Loaded query={providers}>
      {(list) => (
        <>
          {list.active_model.startsWith('offline/') && <p className='note note-warn'>{say('settings.offlineNote')}</p>}
          {problem !== undefined && problem !== 'ok' && <p className='note note-bad'><VisibleText text={plainWords(problem)} /></p>}
          <ActiveModel active={list.active_model} />
          <section className='section'>
            <h2>{say('settings.providers')}</h2>
            <ProviderTable providers={list.providers} />
          </section>
          <section className='section'>
            <h2>{say('settings.roles')}</h2>
            <dl className='pairs'>
              {ROLES.map(({ role, name }) => (
                <Fragment key={role}>
                  <dt>{say(name)}</dt><dd>{list.roles[role]} <span className='quiet'>{say(REACH[list.reach[role]])}</span></dd>
                </Fragment>
              ))}
            </dl>
          </section>
          <Discovery />
        </>
      )}
    </Loaded>
  )
}
