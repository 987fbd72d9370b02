import { useState } from 'react'
import type { ProviderList } from '../../../../client/generated/index.ts'
import { say } from '../../../lib/say.ts'
import { Button } from '../../../parts/button.tsx'
import { Confirm } from '../../../parts/confirm.tsx'
import { KeyDialog } from '../../../parts/models/key-dialog.tsx'
import { useKeyRemoval } from '../../../parts/models/model-queries.ts'
import { providerName } from '../../../parts/models/provider-name.ts'
import { VisibleText } from '../../../parts/visible-text.tsx'

type Provider = Omit<ProviderList['providers'][number], 'default_model'>

/** Providers that need nothing but a key. */
const KNOWN = ['anthropic', 'openai', 'google']

/** The providers with their keys: entered, replaced and removed here, never shown. */
export function ProviderTable ({ providers }: { providers: Provider[] }) {
  const [entering, setEntering] = useState<string>()
  const remove = useKeyRemoval()
  const names = new Set(providers.map(({ name }) => name))
  const others = KNOWN.filter((name) => !names.has(name)).map((name): Provider => ({ name, kind: 'direct', configured: false }))
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
          {[...providers, ...others].map((provider) => (
            <tr key={provider.name}>
              <th scope='row'><VisibleText text={providerName(provider.name)} /></th>
              <td><KeyState {...provider} /></td>
              <td>
                {provider.kind !== 'offline' && (
                  <div className='actions'>
                    <Button onClick={() => setEntering(provider.name)}>
                      {say(provider.keyFrom === undefined ? 'settings.enterKey' : 'settings.replaceKey')}
                    </Button>
                    {provider.keyFrom === 'stored' && (
                      <Confirm
                        kind='quiet'
                        label={say('settings.removeKey')}
                        title={say('settings.removeKeyTitle', { name: providerName(provider.name) })}
                        text={say('settings.removeKeyText')}
                        action={say('settings.removeKey')}
                        onConfirm={() => remove(provider.name)}
                      />
                    )}
                  </div>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {entering !== undefined && <KeyDialog providers={[entering]} onClose={() => setEntering(undefined)} />}
    </div>
  )
}

/** Whether a provider can be called, and where a key comes from that cannot be removed here. */
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
