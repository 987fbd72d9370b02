import { useQuery } from '@tanstack/react-query'
import { useDeferredValue } from 'react'
import { previewSchedule } from '../../../client/generated/index.ts'
import { plainText } from '../../lib/plain-fields.ts'
import { say } from '../../lib/say.ts'
import { asked, body } from '../../lib/service.ts'
import { Time } from '../../parts/time.tsx'
import { ServiceText } from '../../parts/service-text.tsx'
import { formSchedule, type FormValues } from './form-values.ts'
import { sayWords } from './schedule-words.ts'

/** What the schedule of the form means, in the service's words, and its next times; or why it cannot be read. */
export function SchedulePreview ({ values }: { values: FormValues }) {
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
