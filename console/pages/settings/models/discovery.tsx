import { useState } from 'react'
import { say } from '../../../lib/say.ts'
import { Button } from '../../../parts/button.tsx'
import { Failed } from '../../../parts/failed.tsx'
import { useModels } from './model-queries.ts'

/** Looks for model servers on this machine when the user asks for it. */
export function Discovery () {
  const [isAsked, setIsAsked] = useState(false)
  return isAsked ? <Found /> : <div><Button onClick={() => setIsAsked(true)}>{say('settings.discover')}</Button></div>
}

function Found () {
  const models = useModels(true)
  const servers = models.data?.discovered
  return (
    <section className='section'>
      <div>
        <Button isBusy={models.isFetching} onClick={() => void models.refetch()}>
          {say(models.isFetching ? 'settings.discovering' : 'settings.discover')}
        </Button>
      </div>
      {models.error !== null && <Failed error={models.error} />}
      <div role='status'>
        {servers?.length === 0 && <p className='quiet'>{say('settings.discoveredNone')}</p>}
        <ul className='list'>
          {servers?.map(({ server, baseURL, models, use }) => (
            <li key={baseURL} className='server'>
              <p className='server-name'>{server} <span className='quiet'>{baseURL}</span></p>
              <p>{models.slice(0, 20).join(', ')}</p>
              <p className='quiet'>{use}</p>
            </li>
          ))}
        </ul>
      </div>
    </section>
  )
}
