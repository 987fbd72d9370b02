import { useQuery } from '@tanstack/react-query'
import { useDeferredValue } from 'react'
import { previewSchedule } from '../../../client/generated/index.ts'
import { plainText } from '../../lib/plain-fields.ts'
import { say } from '../../lib/say.ts'
import { asked, body } from '../../lib/service.ts'
import { ServiceText } from '../../parts/service-text.tsx'
import { Time } from '../../parts/time.tsx'
import { type FieldsProps, formSchedule, type FormValues, INTERVALS } from './form-values.ts'
import { sayWeekday, sayWords, WEEKDAYS } from './schedule-words.ts'

/** Fields for a recurring time: an interval with the time of day, or a text that the service parses. */
export function ScheduleFields ({ values, set }: FieldsProps) {
  const { interval, custom, at, days, day, missed } = values
  return (
    <fieldset>
      <legend>{say('tasks.scheduleTitle')}</legend>
      <div className='fields'>
        <label className='field'>
          <span>{say('tasks.interval')}</span>
          <select value={interval} onChange={({ target }) => set({ interval: INTERVALS.find((name) => name === target.value) })}>
            {INTERVALS.map((name) => <option key={name} value={name}>{say(`tasks.intervals.${name}`)}</option>)}
          </select>
        </label>
        {interval !== 'hourly' && interval !== 'custom' && (
          <label className='field'>
            <span>{say('tasks.at')}</span>
            <input type='time' required value={at} onChange={({ target }) => set({ at: target.value })} />
          </label>
        )}
        {interval === 'monthly' && (
          <label className='field'>
            <span>{say('tasks.day')}</span>
            <select value={day} onChange={({ target }) => set({ day: target.value })}>
              {Array.from({ length: 31 }, (_, at) => <option key={at} value={at + 1}>{at + 1}</option>)}
              <option value='last'>{say('tasks.lastDay')}</option>
            </select>
          </label>
        )}
      </div>
      {interval === 'custom' && (
        <label className='field'>
          <span>{say('tasks.custom')}</span>
          <input
            required
            maxLength={200}
            value={custom}
            onChange={({ target }) => set({ custom: target.value })}
            aria-describedby='custom-help'
          />
          <span id='custom-help' className='quiet'>{say('tasks.customHelp')}</span>
        </label>
      )}
      {interval === 'weekly' && (
        <div className='weekdays' role='group' aria-label={say('tasks.on')}>
          {WEEKDAYS.map((name) => (
            <label key={name}>
              <input
                type='checkbox'
                checked={days.includes(name)}
                onChange={({ target }) => set({ days: WEEKDAYS.filter((each) => each === name ? target.checked : days.includes(each)) })}
              />{' '}
              {sayWeekday(name)}
            </label>
          ))}
        </div>
      )}
      <TimeZone values={values} set={set} />
      <label>
        <input
          type='checkbox'
          checked={missed === 'run_once'}
          onChange={({ target }) => set({ missed: target.checked ? 'run_once' : 'skip' })}
        />{' '}
        {say('tasks.catchUp')}
      </label>
      <SchedulePreview values={values} />
    </fieldset>
  )
}

function TimeZone ({ values: { timezone }, set }: FieldsProps) {
  return (
    <label className='field'>
      <span>{say('tasks.timezone')}</span>
      <input
        maxLength={200}
        value={timezone}
        onChange={({ target }) => set({ timezone: target.value })}
        placeholder={say('tasks.timezoneHelp')}
      />
    </label>
  )
}

/**
 * Fields for the time of a task that runs once: when it is started, or at a given time. `isNeeded` is true for a task that already has a
 * time: it must keep one.
 */
export function OnceFields ({ values, set, isNeeded }: FieldsProps & { isNeeded: boolean }) {
  return (
    <fieldset>
      <legend>{say('tasks.onceTitle')}</legend>
      <label className='field'>
        <span>{say('tasks.once')}</span>
        <input
          type='datetime-local'
          required={isNeeded}
          value={values.once}
          onChange={({ target }) => set({ once: target.value })}
          aria-describedby='once-help'
        />
        <span id='once-help' className='quiet'>{say(isNeeded ? 'tasks.onceKept' : 'tasks.onceHelp')}</span>
      </label>
      {values.once !== '' && <TimeZone values={values} set={set} />}
      <SchedulePreview values={values} />
    </fieldset>
  )
}

/** The meaning of the form's schedule in the service's words, with its next times; or the parse error. */
function SchedulePreview ({ values }: { values: FormValues }) {
  const schedule = formSchedule(values)
  const isEmpty = schedule === undefined || schedule.interval === ''
  const json = useDeferredValue(JSON.stringify(schedule ?? {}))
  const { data } = useQuery({
    queryKey: ['schedule preview', json],
    queryFn: ({ signal }) => previewSchedule({ ...asked(), signal, body: { schedule: JSON.parse(json) } }).then(body),
    enabled: !isEmpty && json !== '{}',
    retry: false
  })
  if (data === undefined || isEmpty) return null
  if (!data.understood) return <p role='status' className='quiet'><ServiceText text={plainText(data.reason)} limit={1_000} /></p>
  return (
    <p role='status' className='quiet'>
      <span lang='en'>{sayWords(data.words, data.schedule.timezone)}</span>
      {' · '}{say('tasks.next')}{' '}
      {data.next.slice(0, 3).map((at, index) => <span key={at}>{index > 0 && ', '}<Time at={at} /></span>)}
    </p>
  )
}
