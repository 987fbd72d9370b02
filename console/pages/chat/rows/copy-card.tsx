import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { isToolUIPart, type UIMessage } from 'ai'
import { useState } from 'react'
import { applyRun, getRun } from '../../../../client/generated/index.ts'
import { keys } from '../../../lib/queries.ts'
import { say } from '../../../lib/say.ts'
import { asked, body } from '../../../lib/service.ts'
import { Button } from '../../../parts/button.tsx'
import { isRecord } from '../../../parts/call/values.tsx'
import { DoneNote } from '../../../parts/changes/changes.tsx'
import { type Done, PlanDialog, type Verb } from '../../../parts/changes/plan-dialog.tsx'
import { Confirm } from '../../../parts/confirm.tsx'

interface Props {
  message: UIMessage
  runId: string
  /** Shows the changes of the run below the answer. */
  onLook: () => void
}

/** Returns the number of calls that ran a command. */
const commandsIn = ({ parts }: UIMessage): number =>
  parts.filter(isToolUIPart).filter(({ output }) => isRecord(output) && 'exitCode' in output).length

/**
 * The end of an answer whose run worked on a copy: the changes to the folder, and buttons to apply them. Renders nothing if the run worked
 * in the folder itself or its copy is deleted.
 */
export function CopyCard ({ message, runId, onLook }: Props) {
  /** The dialog that is open: to apply the copy, or to undo an apply. */
  const [open, setOpen] = useState<{ verb: Verb, runId: string }>()
  const [done, setDone] = useState<Done & { verb: Verb }>()
  const [isGone, setIsGone] = useState(false)
  const queries = useQueryClient()
  const run = useQuery({ queryKey: keys.run(runId), queryFn: () => getRun({ ...asked(), path: { runId } }).then(body) })
  const plan = useQuery({
    queryKey: [...keys.changes(runId), 'copy'],
    queryFn: () => applyRun({ ...asked(), path: { runId }, body: { dryRun: true } }).then(body),
    enabled: run.data?.options?.workspace === 'copy' && !isGone,
    retry: false
  })
  const discard = useMutation({
    mutationFn: () => applyRun({ ...asked(), path: { runId }, body: { discard: true } }).then(body),
    onSuccess () {
      setIsGone(true)
      // The preview of an apply is not read again, because the copy no longer exists.
      void queries.invalidateQueries({ queryKey: ['changes'], predicate: ({ queryKey }) => queryKey.at(-1) !== 'copy' })
    }
  })
  if (isGone) return <p className='quiet' role='status'>{say('chat.copy.discarded')}</p>
  if (plan.data === undefined || plan.isError) return null
  const { applied, planned = [] } = plan.data
  const files = planned.length > 0 ? planned.length : applied.length
  const commands = commandsIn(message)
  return (
    <section className='copy-card' aria-label={say('chat.copy.title')}>
      <p>
        <strong>{say('chat.copy.title')}</strong>{' '}
        {files > 0 ? say('chat.copy.files', { count: files }) : say('chat.copy.nothing')}
        {commands > 0 && ` ${say('chat.copy.commands', { count: commands })}`}
      </p>
      {files > 0 && (
        <div className='actions'>
          <Button kind='primary' onClick={() => setOpen({ verb: 'apply', runId })}>{say('changes.apply.all')}</Button>
          <Button onClick={onLook}>{say('chat.copy.look')}</Button>
          <Confirm
            label={say('chat.copy.discard')} title={say('chat.copy.discardTitle')} text={say('chat.copy.discardText')}
            action={say('chat.copy.discardNow')} onConfirm={() => discard.mutateAsync()}
          />
        </div>
      )}
      {done && <DoneNote done={done} onTakeBack={(undoId) => setOpen({ verb: 'undo', runId: undoId })} />}
      {open && (
        <PlanDialog
          key={`${open.verb} ${open.runId}`} {...open}
          onClose={() => setOpen(undefined)} onDone={(what) => setDone({ ...what, verb: open.verb })}
        />
      )}
    </section>
  )
}
