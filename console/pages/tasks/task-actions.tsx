import { useMutation } from '@tanstack/react-query'
import { Link, useLocation } from 'wouter'
import { cancelTask, deleteTask, pauseTask, rehearseTask, resumeTask, runTask, startTask } from '../../../client/generated/index.ts'
import { useKeptFocus } from '../../lib/keep-focus.ts'
import { keys, queries } from '../../lib/queries.ts'
import { say } from '../../lib/say.ts'
import { asked, body } from '../../lib/service.ts'
import { useAnnounce } from '../../parts/announcer.tsx'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Failed } from '../../parts/failed.tsx'
import { keepTask, oneTask, type Task } from './task-queries.ts'

type Verb = 'start' | 'resume' | 'run' | 'pause'

/** The actions for a task in each of its states; the first one is the main action. */
const VERBS: Record<Task['status'], Verb[]> = {
  planned: ['start', 'run'],
  scheduled: ['run', 'pause'],
  running: ['pause'],
  pending_approval: ['pause'],
  paused: ['resume', 'run'],
  completed: ['start', 'run'],
  failed: ['start', 'run'],
  cancelled: ['start']
}
const CAN_CANCEL: Array<Task['status']> = ['planned', 'scheduled', 'running', 'pending_approval', 'paused']

async function act (verb: Verb, id: string): Promise<void> {
  const request = { ...asked(), path: { id } }
  if (verb === 'run') {
    await runTask(request)
    await queries.invalidateQueries({ queryKey: keys.task(id) })
  } else keepTask(await { start: startTask, resume: resumeTask, pause: pauseTask }[verb](request).then(body))
}

/** The buttons that start, pause, rehearse and edit a task, and after them those that end it. */
export function TaskActions ({ task: { id, status, taskType } }: { task: Task }) {
  const [, navigate] = useLocation()
  const announce = useAnnounce()
  const action = useMutation({
    mutationFn: (verb: Verb) => act(verb, id),
    onSuccess: (_, verb) => announce(say(`tasks.done.${verb}`))
  })
  const rehearse = useMutation({
    mutationFn: () => rehearseTask({ ...asked(), path: { id } }).then(body),
    onSuccess: ({ runId }) => navigate(`/runs/${runId}`)
  })
  const actions = useKeptFocus(status, action.isSuccess)
  // For a one-shot task, `run` does the same as `start`.
  const verbs = VERBS[status].filter((verb, at) => at === 0 || verb !== 'run' || taskType !== 'one_shot')
  const isPrimary = (verb: Verb, at: number) => at === 0 && verb !== 'pause'
  return (
    <div className='section'>
      <div className='actions' ref={actions} tabIndex={-1} role='group' aria-label={say('tasks.actions')}>
        {verbs.map((verb, at) => (
          <Button
            key={verb}
            kind={isPrimary(verb, at) ? 'primary' : 'normal'}
            isBusy={action.isPending && action.variables === verb}
            onClick={() => action.mutate(verb)}
          >
            {say(`tasks.verb.${verb}`)}
          </Button>
        ))}
        <Button title={say('tasks.rehearseHelp')} isBusy={rehearse.isPending} onClick={() => rehearse.mutate()}>
          {say('tasks.verb.rehearse')}
        </Button>
        <Link href={`/tasks/${id}?edit=1`} className='button'>{say('tasks.verb.edit')}</Link>
        <EndTask id={id} status={status} />
      </div>
      {action.isError && <Failed error={action.error} />}
      {rehearse.isError && <Failed error={rehearse.error} />}
    </div>
  )
}

/** The buttons that cancel or delete a task. */
function EndTask ({ id, status }: Pick<Task, 'id' | 'status'>) {
  const [, navigate] = useLocation()
  const announce = useAnnounce()
  return (
    <details className='actions-more'>
      <summary className='button button-quiet'>{say('tasks.moreActions')}</summary>
      {CAN_CANCEL.includes(status) && (
        <Confirm
          label={say('tasks.verb.cancel')}
          title={say('tasks.cancelTitle')}
          text={say('tasks.cancelText')}
          onConfirm={async () => keepTask(await cancelTask({ ...asked(), path: { id } }).then(body))}
        />
      )}
      <Confirm
        kind='danger'
        label={say('tasks.verb.delete')}
        title={say('tasks.deleteTitle')}
        text={say('tasks.deleteText')}
        onConfirm={async () => {
          await deleteTask({ ...asked(), path: { id } })
          announce(say('tasks.done.delete'))
          navigate('/tasks')
          queries.removeQueries({ queryKey: oneTask(id).queryKey })
          void queries.invalidateQueries({ queryKey: keys.tasks() })
        }}
      />
    </details>
  )
}
