import { useQuery } from '@tanstack/react-query'
import { say } from '../../lib/say.ts'
import { VisibleText } from '../../parts/visible-text.tsx'
import { oneTask } from './task-queries.ts'

/** The name of a task; a general word until the name is read, and if the task no longer exists. */
export function TaskName ({ id }: { id: string }) {
  const { data } = useQuery({ ...oneTask(id), retry: false })
  return data === undefined ? say('tasks.task') : <VisibleText text={data.name} limit={Infinity} />
}
