import { useState } from 'react'
import type { ModelList } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'
import { Button } from '../button.tsx'
import { Failed } from '../failed.tsx'
import { VisibleText } from '../visible-text.tsx'
import { useConfigure, useProviders } from './model-queries.ts'
import './local-servers.css'

type LocalServer = NonNullable<ModelList['discovered']>[number]

/** The model servers that were found on this computer, each with its models to choose from. */
export function LocalServers ({ servers }: { servers: LocalServer[] }) {
  return <ul className='list'>{servers.map((server) => <li key={server.baseURL} className='local-server'><Server {...server} /></li>)}</ul>
}

function Server ({ server, baseURL, models, provider, config }: LocalServer) {
  const [chosen, setChosen] = useState(models[0])
  const { data } = useProviders()
  const configure = useConfigure()
  const name = provider ?? Object.keys(config?.providers ?? {})[0]
  const isUsed = data?.active_model === `${name}/${chosen}`
  return (
    <>
      <p><strong>{server}</strong> <span className='quiet'>{baseURL}</span></p>
      {models.length === 0
        ? <p className='quiet'>{say('settings.localNoModel')}</p>
        : (
          <div className='actions'>
            <select aria-label={say('settings.localModel', { server })} value={chosen} onChange={({ target }) => setChosen(target.value)}>
              {models.map((model) => <option key={model}>{model}</option>)}
            </select>
            <Button
              isBusy={configure.isPending}
              disabled={isUsed}
              onClick={() => configure.mutate({ localServer: baseURL, model: `${name}/${chosen}` })}
            >
              {say(isUsed ? 'settings.localUsed' : 'settings.localUse')}
            </Button>
          </div>
          )}
      <div role='status'>{isUsed && <p className='quiet'><VisibleText text={say('settings.localNow', { model: chosen })} /></p>}</div>
      {configure.error !== null && <Failed error={configure.error} />}
    </>
  )
}
