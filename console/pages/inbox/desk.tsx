import { useMutation, useQuery } from '@tanstack/react-query'
import { CircleCheck } from 'lucide-react'
import { useRef, useState } from 'react'
import { Link } from 'wouter'
import { type Digest, taskDigest } from '../../../client/generated/index.ts'
import { keys, queries } from '../../lib/queries.ts'
import { say } from '../../lib/say.ts'
import { noteSeen, READER } from '../../lib/seen.ts'
import { asked, body } from '../../lib/service.ts'
import { Button } from '../../parts/button.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Time } from '../../parts/time.tsx'
import { VisibleText } from '../../parts/visible-text.tsx'
import { ChatCard, TaskCard } from './desk-card.tsx'
import { DeskLine, QuietTask } from './desk-lines.tsx'
import { DigestText } from './desk-report.tsx'
import { cardsOf, hasNews, isUnsettled, rowsOf, SECTIONS, SETTLES_MS, type Section } from './desk-rows.ts'

/** The number of requested items per list: the service's maximum, so that no task with news is left out. */
const LISTED = 100
/** The number of rows of a section, and of tasks without news, that are shown at first. */
const SHOWN = 5

const digest = {
  queryKey: keys.digest(),
  queryFn: () => taskDigest({ ...asked(), query: { ...READER, limit: LISTED } }).then(body)
}

/** The news of tasks and chats since the user last marked them as read. */
export function Desk ({ waiting }: { waiting: number }) {
  const heading = useRef<HTMLHeadingElement>(null)
  const query = useQuery({ ...digest, refetchInterval: ({ state: { data } }) => data !== undefined && isUnsettled(data) && 2 * SETTLES_MS })
  const see = useMutation({
    mutationFn: (until: number) => noteSeen({ until }),
    async onSuccess () {
      await queries.invalidateQueries({ queryKey: keys.digest() })
      heading.current?.focus()
    }
  })
  const { data } = query
  const count = data === undefined ? 0 : cardsOf(data).length
  return (
    <section className='section' aria-labelledby='desk'>
      <header className='page-head'>
        <h2 id='desk' ref={heading} tabIndex={-1}>
          {say('desk.title')}{data !== undefined && <span className='quiet'> · {say('inbox.since')} <Time at={data.since} /></span>}
        </h2>
        {data !== undefined && data.tasks.items.length + count > 0 && (
          <Button isBusy={see.isPending || isUnsettled(data)} onClick={() => see.mutate(data.until)}>{say('desk.keepAll')}</Button>
        )}
      </header>
      {see.error !== null && <Failed error={see.error} />}
      {waiting > 0 && count > 0 && <p><a href='#waiting'>{say('desk.waiting', { count: waiting })}</a></p>}
      <Loaded query={query}>{(found) => <Cards digest={found} />}</Loaded>
    </section>
  )
}

/** A card for each task or chat with news, and below them a line for each task that had nothing to do. */
function Cards ({ digest }: { digest: Digest }) {
  const [isWhole, setIsWhole] = useState(false)
  const { until, tasks, chats, damaged = [] } = digest
  const quiet = tasks.items.filter((task) => !hasNews(task))
  const visible = isWhole ? quiet : quiet.slice(0, SHOWN)
  const cards = cardsOf(digest)
  return (
    <>
      {damaged.length > 0 && <p className='note note-bad'>{say('inbox.damaged', { count: damaged.length })}</p>}
      {cards.length === 0
        ? <p className='desk-clear'><CircleCheck /> {say(quiet.length > 0 ? 'desk.nothingToDo' : 'desk.nothingNew')}</p>
        : <p className='quiet for-keys'>{say('desk.keys')}</p>}
      {cards.length > 0 && (
        <ul className='desk-cards'>
          {cards.map((card) => 'taskId' in card
            ? <TaskCard key={card.taskId} task={card} until={until} />
            : <ChatCard key={card.threadId} chat={card} until={until} />)}
        </ul>
      )}
      {quiet.length > 0 && <ul className='list'>{visible.map((task) => <QuietTask key={task.taskId} {...task} />)}</ul>}
      <More hidden={quiet.length - visible.length} more={tasks.more + chats.more} onShow={() => setIsWhole(true)} />
    </>
  )
}

/** The work that is in progress, and the next planned times. */
export function Now () {
  const { data } = useQuery(digest)
  return data === undefined ? null : SECTIONS.map((section) => <SectionOf key={section} digest={data} section={section} />)
}

function SectionOf ({ digest, section }: { digest: Digest, section: Section }) {
  const [isWhole, setIsWhole] = useState(false)
  const { rows, more } = rowsOf(digest, section)
  if (rows.length === 0) return null
  const visible = isWhole ? rows : rows.slice(0, SHOWN)
  return (
    <section className='section' aria-labelledby={`now-${section}`}>
      <h2 id={`now-${section}`}>{say(`inbox.section.${section}`)}</h2>
      <ul className='list'>
        {visible.map(({ key, state, title, to, text, at }) => (
          <DeskLine key={key} state={state} time={<Time at={at} />}>
            <Link href={to}><VisibleText text={title} /></Link>
            <DigestText text={text} isOfService />
          </DeskLine>
        ))}
      </ul>
      <More hidden={rows.length - visible.length} more={more} onShow={() => setIsWhole(true)} />
    </section>
  )
}

/** A button that shows the hidden rest of a list: first the loaded items, then those that the service has only counted. */
function More ({ hidden, more, onShow }: { hidden: number, more: number, onShow: () => void }) {
  if (hidden > 0) return <Button kind='quiet' onClick={onShow}>{say('inbox.showMore', { count: hidden })}</Button>
  if (more === 0) return null
  return <p className='quiet'>{say('inbox.more', { count: more })} <Link href='/tasks'>{say('tasks.title')}</Link></p>
}
