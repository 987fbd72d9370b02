import { say } from '../../../lib/say.ts'
import { useServer } from './server-queries.ts'
import { Button } from '../../../parts/button.tsx'

/** The address at which the user authorises the service at a server. The connection continues by itself afterwards. */
export function Authorization ({ name, url }: { name: string, url?: string }) {
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

/** The host of an address that a browser may open; undefined for any other. */
function hostOf (address: string | undefined): string | undefined {
  const url = address === undefined ? null : URL.parse(address)
  return url !== null && ['http:', 'https:'].includes(url.protocol) ? url.host : undefined
}
