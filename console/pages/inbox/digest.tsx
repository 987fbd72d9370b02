import { useMutation, useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { Link } from 'wouter'
import { seeTaskDigest, taskDigest, type Digest as DigestOf } from '../../../client/generated/index.ts'
import { keys, queries } from '../../lib/queries.ts'
import { say } from '../../lib/say.ts'
import { asked, body } from '../../lib/service.ts'
import { Button } from '../../parts/button.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Time } from '../../parts/time.tsx'
import { VisibleText } from '../../parts/visible-text.tsx'
import { DigestLine, DigestText } from './digest-line.tsx'
import { hasNews, isUnsettled, rowsOf, SECTIONS, SETTLES_MS, type Section } from './digest-rows.ts'
import { DigestTask } from './digest-task.tsx'

/** The name of this reader: the service keeps how far it has seen the digest, for all browsers. */
const READER = { client: 'console' }
/** Items of each list that the service sends: as many as it can, so that no task with news is left out. */
const LISTED = 100
/** Rows of a section, and tasks without news, before the user asks for more. */
const SHOWN = 5

/** What tasks did since the user marked it as seen, and what comes next. */
export function Digest () {
  const heading = useRef<HTMLHeadingElement>(null)
  const query = useQuery({
    queryKey: keys.digest(),
    queryFn: () => taskDigest({ ...asked(), query: { ...READER, limit: LISTED } }).then(body),
    refetchInterval: ({ state: { data } }) => data !== undefined && isUnsettled(data) && 2 * SETTLES_MS
  })
  const see = useMutation({
    mutationFn: (until: number) => seeTaskDigest({ ...asked(), body: { ...READER, until } }),
    async onSuccess () {
      await queries.invalidateQueries({ queryKey: keys.digest() })
      heading.current?.focus()
    }
  })
  const { data } = query
  return (
    <section className='section' aria-labelledby='digest'>
      <header className='page-head'>
        <h2 id='digest' ref={heading} tabIndex={-1}>
          {say('inbox.digest')}{data !== undefined && <> {say('inbox.since')} <Time at={data.since} /></>}
        </h2>
        {data !== undefined && data.tasks.items.length > 0 && (
          <Button isBusy={see.isPending || isUnsettled(data)} onClick={() => see.mutate(data.until)}>{say('inbox.markSeen')}</Button>
        )}
      </header>
      {see.error !== null && <Failed error={see.error} />}
      <Loaded query={query}>{(digest) => <Sections digest={digest} />}</Loaded>
    </section>
  )
}

function Sections ({ digest }: { digest: DigestOf }) {
  const { damaged = [] } = digest
  return (
    <>
      {damaged.length > 0 && <p className='note note-bad'>{say('inbox.damaged', { count: damaged.length })}</p>}
      <Tasks {...digest.tasks} />
      {SECTIONS.map((section) => <SectionOf key={section} digest={digest} section={section} />)}
    </>
  )
}

/** What happened, by task. Every task with news is shown; of the others the first. */
function Tasks ({ items, more }: DigestOf['tasks']) {
  const [isWhole, setIsWhole] = useState(false)
  if (items.length === 0) return <p className='quiet'>{say('inbox.nothingNew')}</p>
  const without = items.filter((task) => !hasNews(task))
  const shown = [...items.filter(hasNews), ...isWhole ? without : without.slice(0, SHOWN)]
  const hidden = items.length - shown.length
  return (
    <div className='digest-section'>
      <ul className='list'>{shown.map((task) => <DigestTask key={task.taskId} {...task} />)}</ul>
      <More hidden={hidden} more={more} onShow={() => setIsWhole(true)} />
    </div>
  )
}

function SectionOf ({ digest, section }: { digest: DigestOf, section: Section }) {
  const [isWhole, setIsWhole] = useState(false)
  const { rows, more } = rowsOf(digest, section)
  if (rows.length === 0) return null
  const shown = isWhole ? rows : rows.slice(0, SHOWN)
  return (
    <div className='digest-section'>
      <h3>{say(`inbox.section.${section}`)}</h3>
      <ul className='list'>
        {shown.map(({ key, state, title, to, text, at }) => (
          <DigestLine key={key} state={state} time={<Time at={at} />}>
            <Link href={to}><VisibleText text={title} /></Link>
            <DigestText text={text} isOfService />
          </DigestLine>
        ))}
      </ul>
      <More hidden={rows.length - shown.length} more={more} onShow={() => setIsWhole(true)} />
    </div>
  )
}

/** What of a list is not shown: first what the service has sent, then what it has only counted. */
function More ({ hidden, more, onShow }: { hidden: number, more: number, onShow: () => void }) {
  if (hidden > 0) return <Button kind='quiet' onClick={onShow}>{say('inbox.showMore', { count: hidden })}</Button>
  if (more === 0) return null
  return <p className='quiet'>{say('inbox.more', { count: more })} <Link href='/tasks'>{say('tasks.title')}</Link></p>
}
