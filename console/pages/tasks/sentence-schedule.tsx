import { useQuery } from '@tanstack/react-query'
import { previewSchedule, type Schedule } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'
import { asked, body } from '../../lib/service.ts'
import { useSettled } from '../../lib/use-settled.ts'
import { Button } from '../../parts/button.tsx'
import { Time } from '../../parts/time.tsx'
import { scheduleValues, type FieldsProps } from './form-values.ts'
import { sayWords } from './schedule-words.ts'

/** What is typed is read after this pause, ms. */
const TYPING_MS = 400
/** Words with which a time begins. The service reads the rest, in English. */
const BEGIN = /\b(?:every|each|daily|hourly|weekly|monthly|quarterly|twice|on|at|in|tomorrow|today|tonight|next|first|last)\b/gi
const MOST_TRIED = 4

interface Found {
  schedule: Schedule
  words: string
  next: number[]
  /** The goal without the words of its time. */
  goal: string
}

/** Returns the pieces of a sentence that may be a time, the longest first, each with what stays without it. */
export function timesIn (sentence: string): Array<{ text: string, goal: string }> {
  const [first = '', ...rest] = sentence.split(/,\s+|:\s+/)
  const before = rest.length > 0 ? [{ text: first, goal: rest.join(', ') }] : []
  const begins = [...sentence.matchAll(BEGIN)].map(({ index }) => index).filter((at) => at > 0)
  const after = begins.map((at) => ({ text: sentence.slice(at), goal: sentence.slice(0, at) }))
  return [...before, ...after].slice(0, MOST_TRIED).map(({ text, goal }) => {
    const kept = goal.replace(/[\s,.;:]+$/, '').trim()
    return { text: text.replace(/[\s,.;:!]+$/, '').trim(), goal: kept.charAt(0).toUpperCase() + kept.slice(1) }
  })
}

async function readTime (sentence: string): Promise<Found | null> {
  for (const { text, goal } of timesIn(sentence)) {
    if (goal === '' || text === '') continue
    const preview = await previewSchedule({ ...asked(), body: { text } }).then(body)
    if (preview.understood) return { schedule: preview.schedule, words: preview.words, next: preview.next, goal }
  }
  return null
}

/** Offers the schedule that the goal names in words, such as "every weekday at 8, sum up the mail", with its next times. */
export function SentenceSchedule ({ values, set }: FieldsProps) {
  const sentence = useSettled(values.goal.trim(), TYPING_MS)
  const { data } = useQuery({
    queryKey: ['schedule preview', 'sentence', sentence],
    queryFn: () => readTime(sentence),
    enabled: sentence !== '' && sentence.length <= 500 && sentence.search(BEGIN) !== -1,
    retry: false
  })
  if (data == null || values.goal.trim() !== sentence) return null
  const { schedule, words, next, goal } = data
  const take = () => set({ goal, taskType: schedule.interval === undefined ? 'one_shot' : 'recurring', ...scheduleValues(schedule) })
  return (
    <div className='note' role='status'>
      <p>
        <span lang='en'>{sayWords(words, schedule.timezone)}</span>
        {' · '}{say('tasks.next')}{' '}
        {next.slice(0, 3).map((at, index) => <span key={at}>{index > 0 && ', '}<Time at={at} /></span>)}
      </p>
      <Button onClick={take}>{say('tasks.useTime')}</Button>
    </div>
  )
}
