import { useMutation, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { Link, useLocation } from 'wouter'
import { updateTask } from '../../../client/generated/index.ts'
import { useForm } from '../../lib/draft.ts'
import { say } from '../../lib/say.ts'
import { asked, body } from '../../lib/service.ts'
import { useAnnounce } from '../../parts/announcer.tsx'
import { Button } from '../../parts/button.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Page } from '../../parts/page.tsx'
import { changesOf, valuesOf } from './form-values.ts'
import { TaskForm } from './task-form.tsx'
import { keepTask, oneTask, type Task } from './task-queries.ts'

/** Edits a task. Settings that the form does not show stay unchanged. */
export function EditTask ({ id }: { id: string }) {
  const query = useQuery(oneTask(id))
  return <Page title={say('tasks.editTitle')}><Loaded query={query}>{(task) => <Form task={task} />}</Loaded></Page>
}

function Form ({ task }: { task: Task }) {
  const begin = useMemo(() => valuesOf(task), [task])
  const { values, set, clear } = useForm(`task ${task.id}`, begin)
  const [, navigate] = useLocation()
  const announce = useAnnounce()
  const save = useMutation({
    async mutationFn () {
      const changes = changesOf(values, task)
      return changes === undefined ? task : updateTask({ ...asked(), path: { id: task.id }, body: changes }).then(body)
    },
    onSuccess (saved) {
      clear()
      keepTask(saved)
      announce(say('tasks.saved'))
      navigate(`/tasks/${task.id}`)
    }
  })
  return (
    <TaskForm values={values} set={set} task={task} error={save.error} onSubmit={() => save.mutate()}>
      <Button kind='primary' type='submit' isBusy={save.isPending}>{say('tasks.save')}</Button>
      <Link href={`/tasks/${task.id}`} className='button button-quiet' onClick={clear}>{say('app.cancel')}</Link>
    </TaskForm>
  )
}
