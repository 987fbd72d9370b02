import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Departure } from '../../../client/generated/index.ts'
import { plainMarkdown } from '../../lib/plain-markdown.ts'
import { say } from '../../lib/say.ts'
import { sayFacts } from '../../lib/say-facts.ts'
import { NotVerified } from '../../parts/not-verified.tsx'
import { SaidCall } from '../../parts/said-call.tsx'
import { ServiceText } from '../../parts/service-text.tsx'
import { Status } from '../../parts/status.tsx'
import { Time } from '../../parts/time.tsx'
import { VisibleText } from '../../parts/visible-text.tsx'
import type { EndedRun } from './digest-rows.ts'

/** Characters shown of an output or an error. */
const TEXT_SHOWN = 240

/** A line of the digest: a state, what it is about, and when it was. */
export function DigestLine ({ state, time, children }: { state?: string, time?: ReactNode, children: ReactNode }) {
  return (
    <li className='digest-row'>
      {state === undefined ? <span /> : <Status value={state} />}
      <div className='digest-what'>{children}</div>
      <span className='quiet digest-time'>{time}</span>
    </li>
  )
}

/** The beginning of what a run or a task says of itself, or of what the service says of it. */
export function DigestText ({ text, isOfService = false }: { text: string, isOfService?: boolean }) {
  const Text = isOfService ? ServiceText : VisibleText
  return text === '' ? null : <p className='quiet digest-text'><Text text={text.slice(0, TEXT_SHOWN).toWellFormed()} /></p>
}

/** What a run did otherwise than its accepted rehearsal. */
function Departed ({ how, toolName, about, isShown, why, more }: Departure) {
  const reason = why ?? (isShown ? 'notAccepted' : 'notShown')
  return (
    <li>
      <SaidCall toolName={toolName} about={about} />{' '}
      <span className='quiet'>
        {say(`inbox.departed.${how}`)}
        {how !== 'unused' && <> {say(`inbox.departed.${reason}`)}</>}
        {more !== undefined && <> {say('inbox.departed.more', { count: more })}</>}
      </span>
    </li>
  )
}

/** How a run ended. */
export function RunLine (
  { runId, runNumber, status, error, output, evidence, verified, facts, differs, rehearsalVoid, completedAt }: EndedRun
) {
  return (
    <DigestLine state={status} time={<Time at={completedAt} />}>
      <Link href={`/runs/${runId}`}>{say('run.number', { number: runNumber })}</Link> <NotVerified verified={verified} />
      {evidence === 'contradicted' && <p className='bad'>{say('inbox.contradicted')}</p>}
      {error === undefined ? <DigestText text={plainMarkdown(output ?? '')} /> : <DigestText text={error} isOfService />}
      {facts !== undefined && <DigestText text={sayFacts(facts)} />}
      {rehearsalVoid !== undefined && <p><ServiceText text={rehearsalVoid} limit={500} /></p>}
      {differs !== undefined && (
        <>
          <p>{say('inbox.differs')}</p>
          <ul className='digest-differs'>{differs.map((departure) => <Departed key={departure.text} {...departure} />)}</ul>
        </>
      )}
    </DigestLine>
  )
}
