import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { type Departure, type DigestUnasked, listChanges } from '../../../client/generated/index.ts'
import { plainMarkdown } from '../../lib/plain-markdown.ts'
import { keys } from '../../lib/queries.ts'
import { sayFacts } from '../../lib/say-facts.ts'
import { say } from '../../lib/say.ts'
import { asked, body } from '../../lib/service.ts'
import { Button } from '../../parts/button.tsx'
import { PlanDialog } from '../../parts/changes/plan-dialog.tsx'
import { Covers } from '../../parts/covers.tsx'
import { NotVerified, Verdict } from '../../parts/not-verified.tsx'
import { splitDetail } from '../../lib/plain-words.ts'
import { SaidCall } from '../../parts/said-call.tsx'
import { ServiceText } from '../../parts/service-text.tsx'
import { VisibleText } from '../../parts/visible-text.tsx'
import { mayHaveChanged, type Reported } from './desk-rows.ts'

/** The maximum number of characters of an output or an error. */
const TEXT_SHOWN = 300

/** The beginning of a text from a run or a task, or from the service. */
export function DigestText ({ text, isOfService = false }: { text: string, isOfService?: boolean }) {
  const Text = isOfService ? ServiceText : VisibleText
  const sentence = isOfService ? splitDetail(text).sentence : text
  return text === '' ? null : <p className='desk-text'><Text text={sentence.slice(0, TEXT_SHOWN).toWellFormed()} /></p>
}

/**
 * The report of a run, with its confirmed claims, the calls that ran without asking and the reasons, and the differences from its
 * rehearsal.
 */
export function Report ({ run }: { run: Reported }) {
  const { runId, error, output, stopped, evidence, facts, claims = [], unasked, differs, rehearsalVoid } = run
  const count = unasked.reduce((sum, { calls, more }) => sum + calls.length + more, 0)
  return (
    <>
      {error === undefined ? <DigestText text={plainMarkdown(output ?? '')} /> : <DigestText text={error} isOfService />}
      {stopped !== undefined && <p className='quiet'><ServiceText text={stopped} limit={500} /></p>}
      {evidence === 'contradicted' ? <p className='bad'>{say('inbox.contradicted')}</p> : <NotVerified {...run} />}
      {rehearsalVoid !== undefined && <p><ServiceText text={rehearsalVoid} limit={500} /></p>}
      {differs !== undefined && (
        <>
          <p>{say('inbox.differs')}</p>
          <ul className='desk-lines'>{differs.map((departure) => <Departed key={departure.text} {...departure} />)}</ul>
        </>
      )}
      {(claims.length > 0 || count > 0) && (
        <details className='desk-did' open={evidence === 'contradicted'}>
          <summary>
            {facts === undefined ? say('desk.did') : sayFacts(facts)}
            {count > 0 && <> · {say('desk.unasked', { count })}</>}
          </summary>
          <ul className='desk-lines'>
            {claims.map((claim, at) => <Claimed key={at} runId={runId} {...claim} />)}
            {unasked.map((each, at) => <Unasked key={at} runId={runId} {...each} />)}
          </ul>
        </details>
      )}
      {claims.length === 0 && count === 0 && facts !== undefined && <p className='quiet'>{sayFacts(facts)}</p>}
    </>
  )
}

const hrefOf = (runId: string, toolCallId: string) => `/runs/${runId}?call=${encodeURIComponent(toolCallId)}`

/** A claim of the report, with the call that confirms it. */
function Claimed ({ runId, claim, verdict, call }: { runId: string } & NonNullable<Reported['claims']>[number]) {
  return (
    <li>
      <Verdict verdict={verdict} />{' '}
      {call === null
        ? <VisibleText text={claim} limit={300} />
        : <Link href={hrefOf(runId, call)}><VisibleText text={claim} limit={300} /></Link>}
    </li>
  )
}

/** Calls that ran without asking, and the reason. */
function Unasked ({ runId, why, covers, calls, more }: { runId: string } & DigestUnasked) {
  return (
    <li>
      <span className='quiet'>{say('desk.ranUnasked')}</span>{' '}
      {calls.map(({ toolCallId, toolName, about }, at) => (
        <span key={toolCallId}>
          {at > 0 && ', '}<Link href={hrefOf(runId, toolCallId)}><SaidCall toolName={toolName} about={about} /></Link>
        </span>
      ))}
      {more > 0 && <> {say('inbox.departed.more', { count: more })}</>}{' '}
      <span className='quiet'>
        {why === 'grant' && covers !== undefined
          ? <>{say('desk.why.grant')} <Covers text={covers} /></>
          : say(why === 'grant' ? 'desk.why.ended' : `desk.why.${why}`)}
      </span>
    </li>
  )
}

/** One difference of a run from its accepted rehearsal. */
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

/** The number of changes that are checked for the button. */
const PAGE = 100

/** A button that undoes the file changes of a run, and afterwards a note that they were undone. Absent for a run without such changes. */
export function UndoRun ({ run: { runId, facts } }: { run: Reported }) {
  const [isOpen, setIsOpen] = useState(false)
  const { data } = useQuery({
    queryKey: [...keys.changes(runId), 'first'],
    queryFn: () => listChanges({ ...asked(), path: { runId }, query: { limit: PAGE } }).then(body),
    enabled: mayHaveChanged(facts)
  })
  if (data === undefined) return null
  const { changes, followUps, nextCursor } = data
  const paths = new Set(changes.flatMap(({ canUndo, path }) => canUndo ? path : []))
  if (paths.size === 0) return followUps.some(({ kind }) => kind === 'undo') ? <span className='quiet'>{say('desk.undone')}</span> : null
  return (
    <>
      <Button data-does='undo' onClick={() => setIsOpen(true)}>
        {say('desk.undo', { count: paths.size })}{nextCursor === undefined ? '' : '+'}
      </Button>
      {isOpen && <PlanDialog verb='undo' runId={runId} onClose={() => setIsOpen(false)} onDone={() => {}} />}
    </>
  )
}
