import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { Link } from 'wouter'
import { taskDigest, type Digest as DigestOf } from '../../../client/generated/index.ts'
import { keys } from '../../lib/queries.ts'
import { say } from '../../lib/say.ts'
import { asked, body } from '../../lib/service.ts'
import { Button } from '../../parts/button.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Status } from '../../parts/status.tsx'
import { Time } from '../../parts/time.tsx'
import { VisibleText } from '../../parts/visible-text.tsx'
import { rowsOf, SECTIONS, type DigestRow, type Section } from './digest-rows.ts'
import { useLastVisit } from './last-visit.ts'

/** Items of each section that the service sends. */
const LISTED = 20
/** Rows of a section before the user asks for more. */
const SHOWN = 5
/** Characters shown of an output or an error. */
const TEXT_SHOWN = 240

/** What happened since the user was last here, and what comes next. */
export function Digest () {
  const { since, noteShown, markSeen } = useLastVisit()
  const query = useQuery({
    queryKey: [...keys.digest(), since],
    queryFn: () => taskDigest({ ...asked(), query: { since, limit: LISTED } }).then(body),
    placeholderData: keepPreviousData
  })
  const until = query.data?.until
  useEffect(() => {
    if (until !== undefined && document.visibilityState === 'visible') noteShown(until)
    // The time is noted when a digest was shown, not when the page is drawn again.
  }, [until])

  return (
    <section className='section' aria-labelledby='digest'>
      <header className='page-head'>
        <h2 id='digest'>{say('inbox.since')} <Time at={since} /></h2>
        {until !== undefined && hasNews(query.data!) && <Button onClick={() => markSeen(until)}>{say('inbox.markSeen')}</Button>}
      </header>
      <Loaded query={query}>{(digest) => <Sections digest={digest} />}</Loaded>
    </section>
  )
}

const NEWS = ['failed', 'stopped', 'notRun', 'completed'] as const
const hasNews = (digest: DigestOf) => NEWS.some((section) => digest[section].items.length > 0)

function Sections ({ digest }: { digest: DigestOf }) {
  const { damaged = [] } = digest
  return (
    <>
      {damaged.length > 0 && <p className='note note-bad'>{say('inbox.damaged', { count: damaged.length })}</p>}
      {!hasNews(digest) && <p className='quiet'>{say('inbox.nothingNew')}</p>}
      {SECTIONS.map((section) => <SectionOf key={section} digest={digest} section={section} />)}
    </>
  )
}

function SectionOf ({ digest, section }: { digest: DigestOf, section: Section }) {
  const [isWhole, setIsWhole] = useState(false)
  const { rows, more } = rowsOf(digest, section)
  if (rows.length === 0) return null
  const hidden = isWhole ? 0 : Math.max(0, rows.length - SHOWN)
  return (
    <div className='digest-section'>
      <h3>{say(`inbox.section.${section}`)}</h3>
      <ul className='list'>
        {rows.slice(0, rows.length - hidden).map(({ key, ...row }) => <Row key={key} {...row} />)}
      </ul>
      {hidden > 0 && <Button kind='quiet' onClick={() => setIsWhole(true)}>{say('inbox.showMore', { count: hidden })}</Button>}
      {hidden === 0 && more > 0 && (
        <p className='quiet'>{say('inbox.more', { count: more })} <Link href='/tasks'>{say('tasks.title')}</Link></p>
      )}
    </div>
  )
}

function Row ({ state, title, to, text, at, isContradicted }: Omit<DigestRow, 'key'>) {
  return (
    <li className='digest-row'>
      <Status value={state} />
      <div className='digest-what'>
        <Link href={to}><VisibleText text={title} /></Link>
        {isContradicted && <p className='bad'>{say('inbox.contradicted')}</p>}
        {text !== '' && <p className='quiet digest-text'><VisibleText text={text.slice(0, TEXT_SHOWN)} /></p>}
      </div>
      <span className='quiet digest-time'><Time at={at} /></span>
    </li>
  )
}
