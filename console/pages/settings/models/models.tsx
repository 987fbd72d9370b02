import { useQuery } from '@tanstack/react-query'
import { Fragment, useState } from 'react'
import { health } from '../../../../client/generated/index.ts'
import { plainWords } from '../../../lib/plain-words.ts'
import { keys } from '../../../lib/queries.ts'
import { say } from '../../../lib/say.ts'
import { asked, body } from '../../../lib/service.ts'
import { Button } from '../../../parts/button.tsx'
import { Failed } from '../../../parts/failed.tsx'
import { Loaded } from '../../../parts/loaded.tsx'
import { LocalFiles, localFilesIn } from '../../../parts/models/local-files.tsx'
import { LocalServers } from '../../../parts/models/local-servers.tsx'
import { useModels, useProviders } from '../../../parts/models/model-queries.ts'
import { VisibleText } from '../../../parts/visible-text.tsx'
import { ActiveModel } from './active-model.tsx'
import { AddAddress } from './add-address.tsx'
import { KNOWN, ProviderTable } from './provider-table.tsx'

const ROLES = [
  { role: 'capable', name: 'settings.roleCapable' },
  { role: 'fast', name: 'settings.roleFast' },
  { role: 'vision', name: 'settings.roleVision' }
] as const
const REACH = { machine: 'settings.reachMachine', network: 'settings.reachNetwork', cloud: 'settings.reachCloud' } as const

/** The active model, the keys of providers, and model servers on this computer. */
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
            <ProviderTable providers={list.providers} active={list.active_model} />
            <AddAddress names={[...KNOWN, 'gateway', ...list.providers.map(({ name }) => name)]} />
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
          <OfThisMachine />
        </>
      )}
    </Loaded>
  )
}

/** The model files that the service knows, and, after a search, other servers and files on this computer. */
function OfThisMachine () {
  const [isAsked, setIsAsked] = useState(false)
  const own = localFilesIn(useModels().data ?? {})
  return (
    <section className='section'>
      <h2>{say('settings.local')}</h2>
      <p className='quiet'>{say('settings.localText')}</p>
      {isAsked
        ? <Found />
        : (
          <>
            <div><Button onClick={() => setIsAsked(true)}>{say('settings.discover')}</Button></div>
            <Files files={own} />
          </>
          )}
    </section>
  )
}

function Found () {
  const models = useModels(true)
  const servers = models.data?.discovered ?? []
  const files = localFilesIn(models.data ?? {})
  return (
    <>
      <div>
        <Button isBusy={models.isFetching} onClick={() => void models.refetch()}>
          {say(models.isFetching ? 'settings.discovering' : 'settings.discover')}
        </Button>
      </div>
      {models.error !== null && <Failed error={models.error} />}
      <div role='status'>
        {models.data !== undefined && servers.length + files.length === 0 && <p className='quiet'>{say('settings.discoveredNone')}</p>}
      </div>
      {servers.length > 0 && <LocalServers servers={servers} />}
      <Files files={files} />
    </>
  )
}

function Files ({ files }: Parameters<typeof LocalFiles>[0]) {
  if (files.length === 0) return null
  return (
    <>
      <h3>{say('settings.files')}</h3>
      <p className='quiet'>{say('settings.filesText')}</p>
      <LocalFiles files={files} />
    </>
  )
}
