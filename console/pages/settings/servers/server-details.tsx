import type { ToolServerDetail } from '../../../../client/generated/index.ts'
import { say } from '../../../lib/say.ts'
import { useAnnounce } from '../../../parts/announcer.tsx'
import { Button } from '../../../parts/button.tsx'
import { Failed } from '../../../parts/failed.tsx'
import { Loaded } from '../../../parts/loaded.tsx'
import { ServiceText } from '../../../parts/service-text.tsx'
import { VisibleText } from '../../../parts/visible-text.tsx'
import { useAccept, useServer, useTakeBack } from './server-queries.ts'
import { ServerResources } from './server-resources.tsx'

/** The tools of a server with the server's descriptions, its features that are not used, and its latest error output. */
export function ServerDetails ({ name }: { name: string }) {
  const server = useServer(name)
  return (
    <Loaded query={server}>
      {(server) => <Details server={server} />}
    </Loaded>
  )
}

function Details ({ server }: { server: ToolServerDetail }) {
  const { command, url, toolDetails, warnings, stderr } = server
  return (
    <>
      <p className='mono'><VisibleText text={command ?? url ?? ''} /></p>
      <ServerAcceptance server={server} />
      <ul className='tool-list' tabIndex={0}>
        {toolDetails.map((tool) => (
          <li key={tool.name}>
            <p>
              <code><VisibleText text={tool.name} limit={200} /></code>{' '}
              {tool.acceptance === 'changed' && <span className='quiet'>{say('approval.tool.changed')}</span>}
            </p>
            <p className='quiet'><VisibleText text={tool.description ?? ''} /></p>
            {tool.notOffered !== undefined && <p>{say('settings.notOffered', { why: tool.notOffered })}</p>}
          </li>
        ))}
      </ul>
      {server.status === 'connected' && <ServerResources server={server.name} />}
      {warnings.length > 0 && (
        <section className='section'>
          <h3>{say('settings.serverWarnings')}</h3>
          <ul>{warnings.map((warning) => <li key={warning}><ServiceText text={warning} /></li>)}</ul>
        </section>
      )}
      {stderr !== '' && (
        <section className='section'>
          <h3>{say('settings.serverStderr')}</h3>
          <pre className='preview-text' tabIndex={0}><VisibleText text={stderr} limit={Infinity} /></pre>
        </section>
      )}
    </>
  )
}

/** Shows how many tools of a server run without asking because the user has accepted them, with buttons to accept or to take this back. */
function ServerAcceptance ({ server: { name, status, approval, digest, toolDetails } }: { server: ToolServerDetail }) {
  const accept = useAccept(name)
  const takeBack = useTakeBack(name)
  const announce = useAnnounce()
  const reading = toolDetails.filter(({ annotations }) => annotations?.readOnlyHint === true)
  const accepted = reading.filter(({ acceptance }) => acceptance === 'accepted').length
  const error = accept.error ?? takeBack.error
  if (approval !== undefined || reading.length === 0) return null
  return (
    <section className='section'>
      <p>{say('settings.runUnasked', { count: accepted, all: reading.length })}</p>
      <div className='actions'>
        {accepted < reading.length && status === 'connected' && (
          <Button isBusy={accept.isPending} onClick={() => accept.mutate(digest, { onSuccess: () => announce(say('settings.accepted')) })}>
            {say('settings.acceptTools', { count: reading.length })}
          </Button>
        )}
        {accepted > 0 && (
          <Button
            kind='quiet'
            isBusy={takeBack.isPending}
            onClick={() => takeBack.mutate(undefined, { onSuccess: () => announce(say('settings.takenBack')) })}
          >
            {say('settings.takeBack')}
          </Button>
        )}
      </div>
      {error !== null && <Failed error={error} />}
    </section>
  )
}
