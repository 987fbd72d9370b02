import { useQuery } from '@tanstack/react-query'
import { listToolCalls, type ToolCall } from '../../../client/generated/index.ts'
import { keys } from '../../lib/queries.ts'
import { say } from '../../lib/say.ts'
import { asked, body } from '../../lib/service.ts'
import { Time } from '../../parts/time.tsx'
import { ToolName } from '../../parts/tool-name.tsx'
import { VisibleText } from '../../parts/visible-text.tsx'
import { CallInput } from '../../parts/waiting/call-input.tsx'
import { RequestOwner } from '../../parts/waiting/request-owner.tsx'

/** The maximum number of calls in the list. The application answers them, not the user. */
const LISTED = 50

/** The calls that wait for an application to execute them. The user can only look at them here. */
export function AppCalls () {
  const { data } = useQuery({
    queryKey: keys.toolCalls(),
    queryFn: () => listToolCalls({ ...asked(), query: { limit: LISTED } }).then(body)
  })
  if (data === undefined || data.toolCalls.length === 0) return null
  return (
    <section className='section' aria-labelledby='app-calls'>
      <h2 id='app-calls'>{say('inbox.appCalls')}</h2>
      <p className='quiet'>{say('inbox.appCallsText')}</p>
      <ul className='list'>{data.toolCalls.map((call) => <AppCall key={call.toolCallId} {...call} />)}</ul>
    </section>
  )
}

function AppCall ({ toolName, input, app, claim, createdAt, expiresAt, ...owner }: ToolCall) {
  return (
    <li>
      <details className='app-call'>
        <summary>
          <ToolName name={toolName} />
          {' '}
          <span className='quiet'>
            {claim === undefined ? say('inbox.unclaimed') : say('inbox.claimed')}
            {app !== undefined && <>{' · '}<VisibleText text={app} /></>}
            {' · '}<Time at={createdAt} />{' · '}{say('approval.until')} <Time at={expiresAt} />
          </span>
        </summary>
        <p className='quiet'><RequestOwner {...owner} /></p>
        <CallInput input={input} />
      </details>
    </li>
  )
}
