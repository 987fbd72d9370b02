import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import type { ToolServer } from '../../../../client/generated/index.ts'
import { say } from '../../../lib/say.ts'
import { sayDuration } from '../../../lib/time.ts'
import { useAnnounce } from '../../../parts/announcer.tsx'
import { Button } from '../../../parts/button.tsx'
import { Confirm } from '../../../parts/confirm.tsx'
import { Dialog } from '../../../parts/dialog.tsx'
import { Failed } from '../../../parts/failed.tsx'
import { openApprovals } from '../../../parts/frame.tsx'
import { ServiceText } from '../../../parts/service-text.tsx'
import { Status } from '../../../parts/status.tsx'
import { VisibleText } from '../../../parts/visible-text.tsx'
import { ServerDetails } from './server-details.tsx'
import { useDisconnect, useServer, useServerSettings } from './server-queries.ts'

const MOST_TOOLS = 12
/** The maximum number of warnings in the list. The details show all of them. */
const MOST_WARNINGS = 2

const lasted = (since: number, now: number) => sayDuration(Math.max(now - since, 0))

interface Props {
  server: ToolServer
  /** When the state of the server was read, in milliseconds since the Unix epoch. */
  now: number
}

/** One tool server: its state, its startup progress, its connection error, and its buttons. */
export function ServerItem ({ server: { name, status, tools, error, warnings = [], connecting, authorizationUrl, unsaved }, now }: Props) {
  const [isShown, setIsShown] = useState(false)
  const disconnect = useDisconnect()
  const settings = useServerSettings(name)
  const announce = useAnnounce()
  const { data: waiting } = useQuery(openApprovals)
  const isAsked = waiting?.approvals.some(({ kind, server }) => kind === 'server' && server === name)
  const isOff = status === 'disabled'
  const turn = () =>
    settings.mutate({ enabled: isOff }, { onSuccess: () => announce(say(isOff ? 'settings.turnedOn' : 'settings.turnedOff', { name })) })
  return (
    <li className='server'>
      <div className='server-head'>
        <p><span className='server-name'>{name}</span> <Status value={status} /></p>
        {!unsaved && (
          <div className='actions'>
            <Button onClick={() => setIsShown(true)}>{say('settings.details')}</Button>
            <Button kind='quiet' isBusy={settings.isPending} onClick={turn}>{say(isOff ? 'settings.enable' : 'settings.disable')}</Button>
            <Confirm
              kind='quiet'
              label={say('settings.disconnect')}
              title={say('settings.disconnectTitle', { name })}
              text={say('settings.disconnectText')}
              onConfirm={() => disconnect.mutateAsync(name).then(() => announce(say('settings.disconnected', { name })))}
            />
          </div>
        )}
      </div>
      {status === 'authorizing' && <Authorization name={name} url={authorizationUrl} />}
      {connecting !== undefined && (
        <p className='quiet'>
          {say('settings.serverStarting', { time: lasted(connecting.since, now), limit: sayDuration(connecting.limitMs) })}{' '}
          {connecting.said === undefined ? say('settings.serverInstalls') : <samp><VisibleText text={connecting.said} /></samp>}
        </p>
      )}
      {error !== undefined && <p className={status === 'authorizing' ? 'quiet' : 'bad'}><ServiceText text={error} /></p>}
      {warnings.slice(0, MOST_WARNINGS).map((warning) => <p key={warning} className='quiet'><ServiceText text={warning} /></p>)}
      {settings.error !== null && <Failed error={settings.error} />}
      {isAsked && <p className='note'>{say('settings.toolsWait')} <Link href='/'>{say('settings.toolsWaitLink')}</Link></p>}
      {tools.length > 0 && (
        <p className='quiet'>
          {say('settings.tools')}: <code><VisibleText text={tools.slice(0, MOST_TOOLS).join(', ')} /></code>
          {tools.length > MOST_TOOLS && ' …'}
        </p>
      )}
      <Dialog title={say('settings.toolsOf', { name })} isOpen={isShown} onClose={() => setIsShown(false)}>
        <ServerDetails name={name} />
      </Dialog>
    </li>
  )
}

/** The address at which the user authorizes the service at a server. The connection then continues by itself. */
function Authorization ({ name, url }: { name: string, url?: string }) {
  const server = useServer(name)
  const address = url ?? server.data?.authorizationUrl
  const host = hostOf(address)
  return (
    <div className='note note-warn'>
      <p>{say('settings.authorizeHelp')}</p>
      {address !== undefined && host !== undefined
        ? <a className='button' href={address} target='_blank' rel='noreferrer'>{say('settings.authorizeOpen', { host })}</a>
        : <Button isBusy={server.isFetching} onClick={() => void server.refetch()}>{say('settings.authorizeAgain')}</Button>}
    </div>
  )
}

/** Returns the host of an address that a browser can open; undefined for other addresses. */
function hostOf (address: string | undefined): string | undefined {
  const url = address === undefined ? null : URL.parse(address)
  return url !== null && ['http:', 'https:'].includes(url.protocol) ? url.host : undefined
}
