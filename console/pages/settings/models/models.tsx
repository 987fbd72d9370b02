import { say } from '../../../lib/say.ts'
import { Loaded } from '../../../parts/loaded.tsx'
import { ActiveModel } from './active-model.tsx'
import { Discovery } from './discovery.tsx'
import { useProviders } from './model-queries.ts'
import { ProviderTable } from './provider-table.tsx'

/** The model in use, the keys of providers, and model servers on this machine. */
export function Models () {
  const providers = useProviders()
  return (
    <Loaded query={providers}>
      {(list) => (
        <>
          {list.active_model.startsWith('offline/') && <p className='note note-warn'>{say('settings.offlineNote')}</p>}
          <ActiveModel active={list.active_model} />
          <section className='section'>
            <h2>{say('settings.providers')}</h2>
            <ProviderTable providers={list.providers} />
          </section>
          <section className='section'>
            <h2>{say('settings.roles')}</h2>
            <dl className='pairs'>
              <dt>{say('settings.roleCapable')}</dt><dd>{list.roles.capable}</dd>
              <dt>{say('settings.roleFast')}</dt><dd>{list.roles.fast}</dd>
              <dt>{say('settings.roleVision')}</dt><dd>{list.roles.vision}</dd>
            </dl>
          </section>
          <Discovery />
        </>
      )}
    </Loaded>
  )
}
