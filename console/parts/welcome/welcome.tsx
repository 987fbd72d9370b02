import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { Link } from 'wouter'
import { getConfig } from '../../../client/generated/index.ts'
import { keys } from '../../lib/queries.ts'
import { say } from '../../lib/say.ts'
import { asked, body } from '../../lib/service.ts'
import { Button } from '../button.tsx'
import { KeyDialog } from '../models/key-dialog.tsx'
import { LocalFiles, localFilesIn } from '../models/local-files.tsx'
import { LocalServers } from '../models/local-servers.tsx'
import { useModels, useProviders } from '../models/model-queries.ts'
import { noteVisit } from './first-visit.ts'
import './welcome.css'

const WITH_KEYS = ['anthropic', 'openai', 'google', 'gateway']

interface Props {
  /** Called when it is known whether the welcome is shown. */
  onReady: () => void
}

/**
 * The welcome for a user whose service has no model. It connects a model by a key or on this computer, or leads to the offline assistant.
 * It confirms a connected model. After that, or after it was dismissed, it does not appear again.
 */
export default function Welcome ({ onReady }: Props) {
  const providers = useProviders()
  const config = useQuery({ queryKey: keys.config(), queryFn: () => getConfig(asked()).then(body) })
  const local = useModels(true)
  const [state, setState] = useState<'unknown' | 'needed' | 'connected' | 'closed'>('unknown')
  const [isEntering, setIsEntering] = useState(false)
  const isSettled = ![providers, config, local].some(({ isPending }) => isPending)
  const active = providers.data?.active_model

  useEffect(() => {
    if (!isSettled) return
    onReady()
    if (active === undefined) return
    // If the configuration names the offline assistant, the user has chosen it.
    const isNeeded = active.startsWith('offline/') && config.data !== undefined && !('model' in config.data)
    if (!isNeeded) noteVisit()
    setState((before) => before === 'closed' ? before : isNeeded ? 'needed' : before === 'unknown' ? 'closed' : 'connected')
  }, [isSettled, active, config.data, onReady])

  const close = () => {
    noteVisit()
    setState('closed')
  }
  if (state === 'unknown' || state === 'closed') return null
  const servers = local.data?.discovered ?? []
  const files = localFilesIn(local.data ?? {})
  const hasLocal = servers.length + files.length > 0
  return (
    <section className='welcome' aria-labelledby='welcome'>
      {state === 'connected'
        ? (
          <>
            <h2 id='welcome'>{say('welcome.connected')}</h2>
            <p>{say('welcome.connectedText', { model: active ?? '' })}</p>
            <div className='actions'>
              <Link href='/chat' className='button button-primary' onClick={close}>{say('welcome.begin')}</Link>
              <Button kind='quiet' onClick={close}>{say('app.close')}</Button>
            </div>
          </>
          )
        : (
          <>
            <h2 id='welcome'>{say('welcome.title')}</h2>
            <p>{say('welcome.text')}</p>
            {hasLocal && <h3>{say('welcome.local')}</h3>}
            {servers.length > 0 && <LocalServers servers={servers} />}
            {files.length > 0 && <LocalFiles files={files} />}
            <div className='actions'>
              <Button kind='primary' onClick={() => setIsEntering(true)}>{say('welcome.key')}</Button>
              <Link href='/chat' className='button' onClick={close}>{say('welcome.offline')}</Link>
              <Button kind='quiet' onClick={close}>{say('welcome.dismiss')}</Button>
            </div>
            <p className='quiet'>{say(hasLocal ? 'welcome.later' : 'welcome.laterLocal')}</p>
          </>
          )}
      {isEntering && <KeyDialog providers={WITH_KEYS} onClose={() => setIsEntering(false)} />}
    </section>
  )
}
