import { useMutation } from '@tanstack/react-query'
import { type LucideIcon, ListTodo, MessageSquare } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Digest } from '../../../client/generated/index.ts'
import { keys, queries } from '../../lib/queries.ts'
import { say } from '../../lib/say.ts'
import { noteSeen } from '../../lib/seen.ts'
import { useAnnounce } from '../../parts/announcer.tsx'
import { Button } from '../../parts/button.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Status } from '../../parts/status.tsx'
import { Time } from '../../parts/time.tsx'
import { VisibleText } from '../../parts/visible-text.tsx'
import { DeniedCall } from './denied-call.tsx'
import { PassedTimes, RunLine } from './desk-lines.tsx'
import { DigestText, Report, UndoRun } from './desk-report.tsx'
import type { Chat, OfTask } from './desk-rows.ts'

type Seen = { taskId: string } | { threadId: string }
const isOf = (item: { taskId: string } | { threadId: string }, seen: Seen) =>
  'taskId' in seen ? 'taskId' in item && item.taskId === seen.taskId : 'threadId' in item && item.threadId === seen.threadId

/** Dismisses a card for good: the service notes that the user has seen its news. */
function useKeep (seen: Seen, until: number) {
  const announce = useAnnounce()
  return useMutation({
    mutationFn: () => noteSeen({ until, ...seen }),
    onSuccess () {
      announce(say('desk.kept'))
      queries.setQueryData<Digest>(keys.digest(), (digest) => digest && {
        ...digest,
        tasks: { ...digest.tasks, items: digest.tasks.items.filter((item) => !isOf(item, seen)) },
        chats: { ...digest.chats, items: digest.chats.items.filter((item) => !isOf(item, seen)) }
      })
      void queries.invalidateQueries({ queryKey: keys.digest() })
    }
  })
}

interface Props {
  seen: Seen
  /** The end of the period that the card covers, in milliseconds since the Unix epoch. */
  until: number
  icon: LucideIcon
  title: string
  to: string
  status?: string
  time: number
  /** Buttons in addition to Keep. */
  actions?: ReactNode
  children: ReactNode
}

/** A card about an event that happened while the user was away, with buttons for it. */
function DeskCard ({ seen, until, icon: Icon, title, to, status, time, actions, children }: Props) {
  const keep = useKeep(seen, until)
  const id = `desk-${to}`
  return (
    <li className='desk-card' tabIndex={-1} data-desk={to} aria-labelledby={id}>
      <header className='desk-head'>
        <h3 id={id}><Icon /> <Link href={to}><VisibleText text={title} limit={200} /></Link></h3>
        <p className='quiet'>{status !== undefined && <><Status value={status} /> · </>}<Time at={time} /></p>
      </header>
      {children}
      {keep.isError && <Failed error={keep.error} />}
      <div className='actions'>
        <Button kind='primary' data-does='keep' isBusy={keep.isPending || keep.isSuccess} onClick={() => keep.mutate()}>
          {say('desk.keep')}
        </Button>
        {actions}
        <Link href={to} className='button button-quiet' data-does='open'>{say('desk.open')}</Link>
      </div>
    </li>
  )
}

/** The news of one task: its newest run in full, earlier runs as lines, and one line for each other kind of news. */
export function TaskCard ({ task, until }: { task: OfTask, until: number }) {
  const { taskId, name, runs, nothingToDo, denied, passed } = task
  const [newest, ...others] = runs.items
  const to = `/tasks/${taskId}`
  return (
    <DeskCard
      seen={{ taskId }} until={untilOf(until, runs.items)} icon={ListTodo} title={name} to={to} status={newest?.status}
      time={newest?.completedAt ?? passed[0]?.at ?? until} actions={newest && <UndoRun run={newest} />}
    >
      {newest && (
        <>
          {others.length > 0 && <p><Link href={`/runs/${newest.runId}`}>{say('run.number', { number: newest.runNumber })}</Link></p>}
          <Report run={newest} />
        </>
      )}
      <ul className='desk-lines'>
        {others.map((run) => <RunLine key={run.runId} run={run} />)}
        {runs.more > 0 && <li><Link href={to}>{say('inbox.moreRuns', { count: runs.more })}</Link></li>}
        {denied.map((call) => <DeniedCall key={`${call.runId} ${call.toolName} ${call.about}`} {...call} />)}
        {nothingToDo > 0 && <li className='quiet'>{say('inbox.nothingToDo', { count: nothingToDo })}</li>}
        {passed.map((times) => <PassedTimes key={`${times.fate} ${times.reason}`} {...times} />)}
      </ul>
    </DeskCard>
  )
}

/** The answers that a chat received while the user was away. */
export function ChatCard ({ chat, until }: { chat: Chat, until: number }) {
  const { threadId, title, status, completedAt, runs } = chat
  return (
    <DeskCard
      seen={{ threadId }} until={untilOf(until, [chat])} icon={MessageSquare} title={title || say('run.thisChat')}
      to={`/chat/${encodeURIComponent(threadId)}`} status={status} time={completedAt} actions={<UndoRun run={chat} />}
    >
      <Report run={chat} />
      {runs > 1 && <DigestText text={say('desk.moreAnswers', { count: runs - 1 })} />}
    </DeskCard>
  )
}

/** Returns the end of the period of a card. A run that ended in the last moments lies after the end of the digest. */
const untilOf = (until: number, runs: ReadonlyArray<{ completedAt: number }>) =>
  Math.max(until, ...runs.map(({ completedAt }) => completedAt + 1))
