import { useMutation } from '@tanstack/react-query'
import { useMemo, useRef } from 'react'
import { Link, useLocation } from 'wouter'
import { createTask, rehearseTask, type TaskBody } from '../../../client/generated/index.ts'
import { useForm } from '../../lib/draft.ts'
import { newId } from '../../lib/new-id.ts'
import { say } from '../../lib/say.ts'
import { asked, body } from '../../lib/service.ts'
import { localFieldOf } from '../../lib/time.ts'
import { Button } from '../../parts/button.tsx'
import { Failed } from '../../parts/failed.tsx'
import { FolderField } from '../../parts/folders/folder-field.tsx'
import { Page } from '../../parts/page.tsx'
import { MODES } from './form-values.ts'
import { keepTask } from './task-queries.ts'
import './tasks.css'

/** The local hour at which a night ends. */
const MORNING = 7
/** The maximum number of steps of a run: overnight work is limited by its budget and its end time. */
const STEPS = 500

interface Night {
  goal: string
  cwd: string
  usd: string
  /** The local time at which the work ends, such as "2030-12-24T07:00". */
  ends: string
  mode: typeof MODES[number]
}

/** Returns the next morning as the value of a date field. */
function nextMorning (): string {
  const morning = new Date()
  if (morning.getHours() >= MORNING - 1) morning.setDate(morning.getDate() + 1)
  morning.setHours(MORNING, 0, 0, 0)
  return localFieldOf(morning.getTime())
}

const bodyOf = ({ goal, cwd, usd, ends, mode }: Night): TaskBody => ({
  goal: goal.trim(),
  taskType: 'one_shot',
  approval: { mode },
  ...cwd.trim() !== '' && { cwd: cwd.trim() },
  endsAt: new Date(ends).getTime(),
  options: { maxSteps: STEPS, ...usd !== '' && { budget: { usd: Number(usd) } } }
})

/** Prepares overnight work: creates the task and rehearses it. On the sheet of the rehearsal, the user allows calls and starts the work. */
export default function Overnight () {
  const begin = useMemo((): Night => ({ goal: '', cwd: '', usd: '5', ends: nextMorning(), mode: 'granted' }), [])
  const { values, set, clear } = useForm('task overnight', begin)
  const [, navigate] = useLocation()
  // The idempotency key of the last request: sending it again, after a lost response or a failed rehearsal, creates no second task.
  const sent = useRef({ json: '', key: '' })
  const rehearse = useMutation({
    async mutationFn () {
      const night = bodyOf(values)
      const json = JSON.stringify(night)
      if (sent.current.json !== json) sent.current = { json, key: `console-${newId()}` }
      const task = await createTask({ ...asked(), body: night, headers: { 'idempotency-key': sent.current.key } }).then(body)
      keepTask(task)
      return rehearseTask({ ...asked(), path: { id: task.id } }).then(body)
    },
    onSuccess ({ runId }) {
      clear()
      navigate(`/runs/${runId}`)
    }
  })
  return (
    <Page title={say('overnight.title')}>
      <p className='quiet'>{say('overnight.text')}</p>
      <form
        className='form'
        onSubmit={(event) => {
          event.preventDefault()
          rehearse.mutate()
        }}
      >
        <Fields values={values} set={set} />
        {rehearse.isError && <Failed error={rehearse.error} />}
        <div className='actions'>
          <Button kind='primary' type='submit' isBusy={rehearse.isPending}>{say('overnight.rehearse')}</Button>
          <Link href='/tasks' className='button button-quiet' onClick={clear}>{say('app.cancel')}</Link>
        </div>
      </form>
    </Page>
  )
}

function Fields ({ values, set }: { values: Night, set: (some: Partial<Night>) => void }) {
  return (
    <>
      <label className='field'>
        <span>{say('tasks.goal')}</span>
        <textarea rows={4} required maxLength={20_000} value={values.goal} onChange={({ target }) => set({ goal: target.value })} />
      </label>
      <FolderField label={say('tasks.cwd')} value={values.cwd} placeholder={say('tasks.cwdHelp')} onChange={(cwd) => set({ cwd })} />
      <div className='fields'>
        <label className='field'>
          <span>{say('overnight.usd')}</span>
          <input
            type='number' min={0.01} step='any' value={values.usd} aria-describedby='usd-help'
            onChange={({ target }) => set({ usd: target.value })}
          />
          <span id='usd-help' className='quiet'>{say('overnight.usdHelp')}</span>
        </label>
        <label className='field'>
          <span>{say('tasks.ends')}</span>
          <input
            type='datetime-local' required min={localFieldOf(Date.now())} value={values.ends}
            onChange={({ target }) => set({ ends: target.value })}
          />
        </label>
      </div>
      <fieldset>
        <legend>{say('overnight.unknown')}</legend>
        {[...MODES].reverse().map((mode) => (
          <label key={mode} className='choice'>
            <input type='radio' name='mode' checked={values.mode === mode} onChange={() => set({ mode })} />
            <span>{say(`overnight.mode.${mode}`)}</span>
            <span className='quiet'>{say(`overnight.modeHelp.${mode}`)}</span>
          </label>
        ))}
      </fieldset>
    </>
  )
}
