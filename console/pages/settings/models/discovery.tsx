import { useState } from 'react'
import { say } from '../../../lib/say.ts'
import { Button } from '../../../parts/button.tsx'
import { Failed } from '../../../parts/failed.tsx'
import { LocalServers } from '../../../parts/models/local-servers.tsx'
import { useModels } from '../../../parts/models/model-queries.ts'

/** Looks for model servers on this machine when the user asks for it. */
export function Discovery () {
  const [isAsked, setIsAsked] = useState(false)
  return (
    <section className='section'>
      <h2>{say('settings.local')}</h2>
      <p className='quiet'>{say('settings.localText')}</p>
      {isAsked ? <Found /> : <div><Button onClick={() => setIsAsked(true)}>{say('settings.discover')}</Button></div>}
    </section>
  )
}

function Found () {
  const models = useModels(true)
  const servers = models.data?.discovered
  return (
    <>
      <div>
        <Button isBusy={models.isFetching} onClick={() => void models.refetch()}>
          {say(models.isFetching ? 'settings.discovering' : 'settings.discover')}
        </Button>
      </div>
      {models.error !== null && <Failed error={models.error} />}
      <div role='status'>
        {servers?.length === 0 && <p className='quiet'>{say('settings.discoveredNone')}</p>}
      </div>
      {servers !== undefined && servers.length > 0 && <LocalServers servers={servers} />}
    </>
  )
}
