import { useMutation } from '@tanstack/react-query'
import { useRef } from 'react'
import { Link, useLocation } from 'wouter'
import { createTask, startTask } from '../../../client/generated/index.ts'
import { useForm } from '../../lib/draft.ts'
import { newId } from '../../lib/new-id.ts'
import { queries } from '../../lib/queries.ts'
import { say } from '../../lib/say.ts'
import { asked, body } from '../../lib/service.ts'
import { useAnnounce } from '../../parts/announcer.tsx'
import { Button } from '../../parts/button.tsx'
import { Page } from '../../parts/page.tsx'
import { bodyOf, NEW_TASK } from './form-values.ts'
import { bodyWithTime, heardTime } from './sentence-schedule.tsx'
import { TaskForm } from './task-form.tsx'
import { keepTask } from './task-queries.ts'

/** Creates a task, and starts it if the user wants to. */
export default function NewTask () {
  const { values, set, clear } = useForm('task new', NEW_TASK)
  const [, navigate] = useLocation()
  const announce = useAnnounce()
  // The idempotency key of the last request: if its response is lost, sending it again creates no second task.
  const sent = useRef({ json: '', key: '' })
  const create = useMutation({
    async mutationFn (start: boolean) {
      // The text typed last may not have been parsed yet.
      const heard = values.hasOwnTime ? null : await queries.fetchQuery(heardTime(values.goal)).catch(() => null)
      const task = heard === null ? bodyOf(values) : bodyWithTime(values, heard)
      const json = JSON.stringify(task)
      if (sent.current.json !== json) sent.current = { json, key: `console-${newId()}` }
      const created = await createTask({ ...asked(), body: task, headers: { 'idempotency-key': sent.current.key } }).then(body)
      // A triggered task is started as well, so that it can run.
      return start ? startTask({ ...asked(), path: { id: created.id } }).then(body) : created
    },
    onSuccess (task) {
      clear()
      keepTask(task)
      announce(say('tasks.created'))
      navigate(`/tasks/${task.id}`)
    }
  })
  return (
    <Page title={say('tasks.new')}>
      <TaskForm values={values} set={set} error={create.error} onSubmit={() => create.mutate(true)}>
        <Button kind='primary' type='submit' isBusy={create.isPending && create.variables}>{say('tasks.createAndStart')}</Button>
        <Button
          isBusy={create.isPending && !create.variables}
          onClick={({ currentTarget }) => currentTarget.form?.reportValidity() && create.mutate(false)}
        >
          {say('tasks.createOnly')}
        </Button>
        <Link href='/tasks' className='button button-quiet' onClick={clear}>{say('app.cancel')}</Link>
      </TaskForm>
    </Page>
  )
}
