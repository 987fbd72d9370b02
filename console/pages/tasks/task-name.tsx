import { useQuery } from '@tanstack/react-query'
import { say } from '../../lib/say.ts'
import { VisibleText } from '../../parts/visible-text.tsx'
import { oneTask } from './task-queries.ts'
import { titleOf } from './task-words.ts'

/** The name of a task, as far as it is there. */
export function TaskName ({ id }: { id: string }) {
  const { data } = useQuery({ ...oneTask(id), retry: false })
  return data === undefined ? say('tasks.trigger.otherTask') : <VisibleText text={titleOf(data.goal)} limit={100} />
}
