import { queryOptions, useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { getThread } from '../../client/generated/index.ts'
import { keys } from '../lib/queries.ts'
import { say } from '../lib/say.ts'
import { asked, body } from '../lib/service.ts'
import { VisibleText } from './visible-text.tsx'

/** The query of a conversation's title; '' if it has none. */
export const threadTitle = (id: string) => queryOptions({
  queryKey: [...keys.thread(id), 'title'],
  queryFn: () => getThread({ ...asked(), path: { id }, query: { limit: 1 } }).then(body).then(({ title }) => title ?? '')
})

/** The title of a conversation, as a link to it. */
export function ThreadName ({ id }: { id: string }) {
  const { data } = useQuery(threadTitle(id))
  const words = data === undefined ? say('run.thisChat') : data || say('chat.untitled')
  return <Link href={`/chat/${encodeURIComponent(id)}`}><VisibleText text={words} limit={200} /></Link>
}
