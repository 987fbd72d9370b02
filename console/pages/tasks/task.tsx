import { useQuery } from '@tanstack/react-query'
import { useSearchParams } from 'wouter'
import { say } from '../../lib/say.ts'
import { Loaded } from '../../parts/loaded.tsx'
import { Page } from '../../parts/page.tsx'
import { WaitingSection } from '../../parts/waiting/waiting-section.tsx'
import { visibleText } from '../../lib/visible-characters.ts'
import { EditTask } from './edit-task.tsx'
import { Grants } from './grants.tsx'
import { History } from './history.tsx'
import { Plan } from './plan.tsx'
import { Rehearsals } from './rehearsals.tsx'
import { Runs } from './runs.tsx'
import { Steer } from './steer.tsx'
import { TaskActions } from './task-actions.tsx'
import { TaskFacts } from './task-facts.tsx'
import { oneTask, type Task } from './task-queries.ts'
import { titleOf } from './task-words.ts'
import { Times } from './times.tsx'
import { Triggers } from './triggers.tsx'
import './tasks.css'

/** The page of a task, or the form that edits it. */
export default function TaskPage ({ id }: { id: string }) {
  const [query] = useSearchParams()
  return query.has('edit') ? <EditTask id={id} /> : <TaskView id={id} />
}

/** A task: its goal, its schedule, the items that wait, the results of its runs, and its memory. */
function TaskView ({ id }: { id: string }) {
  const query = useQuery(oneTask(id))
  const title = query.data === undefined ? say('tasks.task') : visibleText(titleOf(query.data))
  return <Page title={title}><Loaded query={query}>{(task) => <Sections task={task} />}</Loaded></Page>
}

function Sections ({ task }: { task: Task }) {
  return (
    <>
      <TaskActions task={task} />
      <TaskFacts task={task} />
      <WaitingSection taskId={task.id} />
      <Steer task={task} />
      <Runs taskId={task.id} />
      <Rehearsals taskId={task.id} />
      {task.schedule && <Times task={task} />}
      {task.triggers && <Triggers taskId={task.id} />}
      <Plan plan={task.plan} />
      <History task={task} />
      <Grants taskId={task.id} />
    </>
  )
}
