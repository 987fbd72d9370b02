import { useState } from 'react'
import type { ProviderList } from '../../../../client/generated/index.ts'
import { say } from '../../../lib/say.ts'
import { Button } from '../../../parts/button.tsx'
import { Confirm } from '../../../parts/confirm.tsx'
import { KeyDialog } from './key-dialog.tsx'
import { useConfigure } from './model-queries.ts'

type Provider = ProviderList['providers'][number]

/** Providers whose key makes them direct, without an entry in config.json. */
const KNOWN = ['anthropic', 'openai', 'google']

/** The providers with their keys: entered, replaced and removed here, never shown. */
export function ProviderTable ({ providers }: { providers: Provider[] }) {
  const [entering, setEntering] = useState<string>()
  const configure = useConfigure()
  const names = new Set(providers.map(({ name }) => name))
  const rows: Array<Omit<Provider, 'default_model'>> = [
    ...providers,
    ...KNOWN.filter((name) => !names.has(name)).map((name) => ({ name, kind: 'direct' as const, configured: false }))
  ]
  return (
    <div className='table-wrap'>
      <table>
        <thead>
          <tr>
            <th scope='col'>{say('settings.provider')}</th>
            <th scope='col'>{say('settings.state')}</th>
            <th scope='col'><span className='visually-hidden'>{say('settings.enterKey')}</span></th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, kind, configured }) => (
            <tr key={name}>
              <th scope='row'>{name === 'gateway' ? say('settings.gateway') : name}</th>
              <td>
                {kind === 'offline' ? say('settings.kind_offline') : say(configured ? 'settings.configured' : 'settings.notConfigured')}
              </td>
              <td>
                {kind !== 'offline' && (
                  <div className='actions'>
                    <Button onClick={() => setEntering(name)}>{say(configured ? 'settings.replaceKey' : 'settings.enterKey')}</Button>
                    {configured && kind === 'direct' && (
                      <Confirm
                        kind='quiet'
                        label={say('settings.removeKey')}
                        title={say('settings.removeKeyTitle', { name })}
                        text={say('settings.removeKeyText')}
                        action={say('settings.removeKey')}
                        onConfirm={() => configure.mutateAsync({ keys: { [name]: null } })}
                      />
                    )}
                  </div>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {entering !== undefined && <KeyDialog provider={entering} onClose={() => setEntering(undefined)} />}
    </div>
  )
}
