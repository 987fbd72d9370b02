import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { getTask } from '../../../client/generated/index.ts'
import { keys } from '../../lib/queries.ts'
import { say } from '../../lib/say.ts'
import { asked, body } from '../../lib/service.ts'
import { visibleText } from '../../lib/visible-characters.ts'
import { threadTitle } from '../thread-name.tsx'

/** The maximum number of characters of a title. */
const SHOWN = 80

const shorten = (text: string) => visibleText(text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text)

/** The task or the conversation of an approval, with links to it and to the run, if there is one. */
export function RequestOwner ({ taskId, threadId, runId }: { taskId?: string, threadId?: string, runId?: string }) {
  return (
    <>
      {taskId !== undefined && <TaskLink id={taskId} />}
      {threadId !== undefined && <ThreadLink id={threadId} />}
      {runId !== undefined && <>{' · '}<Link href={`/runs/${runId}`}>{say('approval.run')}</Link></>}
    </>
  )
}

function TaskLink ({ id }: { id: string }) {
  const { data } = useQuery({ queryKey: keys.task(id), queryFn: () => getTask({ ...asked(), path: { id } }).then(body) })
  return <Link href={`/tasks/${id}`}>{say('approval.ofTask', { name: visibleText(data?.name ?? '') })}</Link>
}

function ThreadLink ({ id }: { id: string }) {
  const { data } = useQuery(threadTitle(id))
  const name = data === '' ? say('chat.untitled') : data ?? ''
  return <Link href={`/chat/${encodeURIComponent(id)}`}>{say('approval.ofThread', { name: shorten(name) })}</Link>
}
