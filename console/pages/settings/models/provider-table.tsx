import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ProviderList } from '../../../../client/generated/index.ts'
import { say } from '../../../lib/say.ts'
import { useSession } from '../../../lib/session.ts'
import { Button } from '../../../parts/button.tsx'
import { Confirm } from '../../../parts/confirm.tsx'
import { KeyDialog } from '../../../parts/models/key-dialog.tsx'
import { useAddressRemoval, useKeyRemoval } from '../../../parts/models/model-queries.ts'
import { providerName } from '../../../parts/models/provider-name.ts'
import { VisibleText } from '../../../parts/visible-text.tsx'
import { configQuery } from '../general/budget.tsx'

type Provider = Omit<ProviderList['providers'][number], 'default_model'>

/** Providers that need only a key. */
export const KNOWN = ['anthropic', 'openai', 'google']

/** The providers with their keys. Keys can be entered, replaced and removed, but are never shown. */
export function ProviderTable ({ providers, active }: { providers: Provider[], active: string }) {
  const [entering, setEntering] = useState<string>()
  const addresses = useQuery(configQuery).data?.providers ?? {}
  const names = new Set(providers.map(({ name }) => name))
  const others = KNOWN.filter((name) => !names.has(name))
    .map((name): Provider => ({ name, kind: 'direct', configured: false, takesKey: true }))
  return (
    <div className='table-wrap'>
      <table className='stacked'>
        <thead>
          <tr>
            <th scope='col'>{say('settings.provider')}</th>
            <th scope='col'>{say('settings.state')}</th>
            <th scope='col'><span className='visually-hidden'>{say('settings.enterKey')}</span></th>
          </tr>
        </thead>
        <tbody>
          {[...providers, ...others].map((provider) => {
            const address = addresses[provider.name]?.baseURL
            return (
              <tr key={provider.name}>
                <th scope='row'>
                  <VisibleText text={isOfFiles(provider) ? say('settings.files') : providerName(provider.name)} />
                  {address !== undefined && (
                    <p className='quiet provider-address'><VisibleText text={address} limit={200} /></p>
                  )}
                </th>
                <td><KeyState {...provider} /></td>
                <td>{provider.takesKey && <Actions provider={provider} address={address} active={active} onEnter={setEntering} />}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
      {entering !== undefined && <KeyDialog providers={[entering]} onClose={() => setEntering(undefined)} />}
    </div>
  )
}

const isOfFiles = ({ kind, takesKey }: Provider) => kind === 'direct' && !takesKey

interface ActionsProps {
  provider: Provider
  /** The address of a server from the configuration. */
  address?: string
  active: string
  onEnter: (name: string) => void
}

function Actions ({ provider: { name, keyFrom }, address, active, onEnter }: ActionsProps) {
  const remove = useKeyRemoval()
  const disconnect = useAddressRemoval()
  const hasToken = useSession().token !== undefined
  return (
    <div className='actions'>
      <Button onClick={() => onEnter(name)}>{say(keyFrom === undefined ? 'settings.enterKey' : 'settings.replaceKey')}</Button>
      {keyFrom === 'stored' && (
        <Confirm
          kind='quiet'
          label={say('settings.removeKey')}
          title={say('settings.removeKeyTitle', { name: providerName(name) })}
          text={say('settings.removeKeyText')}
          onConfirm={() => remove(name)}
        />
      )}
      {hasToken && address !== undefined && (
        <Confirm
          kind='quiet'
          label={say('address.remove')}
          title={say('address.removeTitle', { name: providerName(name) })}
          text={say('address.removeText')}
          onConfirm={() => disconnect.mutateAsync({ name, active, hasKey: keyFrom === 'stored' })}
        />
      )}
    </div>
  )
}

/** Shows whether a provider can be called, and where a key comes from that cannot be removed here. */
function KeyState ({ kind, configured, keyFrom }: Provider) {
  if (kind === 'offline') return <>{say('settings.kind_offline')}</>
  if (keyFrom === undefined) return <>{say(configured ? 'settings.needsNoKey' : 'settings.notConfigured')}</>
  return (
    <>
      {say(configured ? 'settings.configured' : 'settings.incomplete')}
      {keyFrom !== 'stored' && <p className='quiet'>{say(`settings.keyFrom.${keyFrom}`)}</p>}
    </>
  )
}
