import { useMutation, useQuery } from '@tanstack/react-query'
import { cancelTaskRun, steerRun, stopRun, type Run } from '../../../client/generated/index.ts'
import { useDraft } from '../../lib/draft.ts'
import { useKeptFocus } from '../../lib/keep-focus.ts'
import { keys, queries } from '../../lib/queries.ts'
import { say } from '../../lib/say.ts'
import { asked } from '../../lib/service.ts'
import { useAnnounce } from '../../parts/announcer.tsx'
import { Button } from '../../parts/button.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Steer } from '../tasks/steer.tsx'
import { oneTask } from '../tasks/task-queries.ts'
import { isOver, isRehearsal } from './run-words.ts'

/** The actions of an active run: stop it, and for the run of a chat, send a message that its next step reads. */
export function RunActions ({ run }: { run: Run }) {
  const { runId, taskId } = run
  const announce = useAnnounce()
  const stop = useMutation({
    mutationFn: async () => {
      await (taskId === undefined || isRehearsal(run)
        ? stopRun({ ...asked(), path: { id: runId } })
        : cancelTaskRun({ ...asked(), path: { id: taskId, runId } }))
    },
    onSuccess () {
      announce(say('run.stopped'))
      void queries.invalidateQueries({ queryKey: keys.run(runId) })
    }
  })
  const actions = useKeptFocus(run.status, stop.isSuccess)
  return (
    <>
      {(!isOver(run) || stop.isSuccess) && (
        <div className='section'>
          <div className='actions' ref={actions} tabIndex={-1}>
            {isOver(run)
              ? <p className='quiet'>{say('run.stopped')}</p>
              : <Button kind='danger' isBusy={stop.isPending} onClick={() => stop.mutate()}>{say('run.stop')}</Button>}
          </div>
          {stop.isError && <Failed error={stop.error} />}
        </div>
      )}
      {run.status === 'running' && taskId === undefined && !isRehearsal(run) && <SteerRun runId={runId} />}
    </>
  )
}

/** A form that sends a comment for the next run of the task. */
export function SteerTask ({ taskId }: { taskId: string }) {
  const { data } = useQuery(oneTask(taskId))
  return data === undefined ? null : <Steer task={data} />
}

function SteerRun ({ runId }: { runId: string }) {
  const [message, setMessage] = useDraft(`steer ${runId}`)
  const steer = useMutation({
    mutationFn: () => steerRun({ ...asked(), path: { id: runId }, body: { message } }),
    onSuccess: () => setMessage('')
  })
  return (
    <section className='section' aria-label={say('run.steer')}>
      <label className='field'>
        <span>{say('run.steer')}</span>
        <textarea rows={2} value={message} onChange={({ target }) => setMessage(target.value)} />
      </label>
      <div className='actions'>
        <Button disabled={message.trim() === ''} isBusy={steer.isPending} onClick={() => steer.mutate()}>{say('run.send')}</Button>
      </div>
      {steer.isError && <Failed error={steer.error} />}
      {steer.isSuccess && message === '' && <p className='quiet'>{say('run.steered')}</p>}
    </section>
  )
}
