import { queryOptions, useQuery } from '@tanstack/react-query'
import { previewSchedule, type Schedule, type TaskBody } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'
import { asked, body } from '../../lib/service.ts'
import { useSettled } from '../../lib/use-settled.ts'
import { Button } from '../../parts/button.tsx'
import { Time } from '../../parts/time.tsx'
import { VisibleText } from '../../parts/visible-text.tsx'
import { bodyOf, scheduleValues, type FieldsProps, type FormValues } from './form-values.ts'
import { sayWords } from './schedule-words.ts'

/** The pause in typing after which the goal is parsed, in milliseconds. */
const TYPING_MS = 400
/** Words at which a time might begin. The service parses the rest, which is in English. */
const BEGIN = /\b(?:every|each|daily|hourly|weekly|monthly|quarterly|twice|on|at|in|tomorrow|today|tonight|next|first|last)\b/gi
const MOST_TRIED = 4
/** The maximum length of a goal in which a time is looked for, in characters. */
const LONGEST = 500

/** A time that a goal names, and the goal without it. */
interface HeardTime {
  schedule: Schedule
  words: string
  next: number[]
  goal: string
}

/** Returns the pieces of a sentence that might be a time, longest first, each with the rest of the sentence. */
function timesIn (sentence: string): Array<{ text: string, goal: string }> {
  const [first = '', ...rest] = sentence.split(/,\s+|:\s+/)
  const before = rest.length > 0 ? [{ text: first, goal: rest.join(', ') }] : []
  const begins = [...sentence.matchAll(BEGIN)].map(({ index }) => index).filter((at) => at > 0)
  const after = begins.map((at) => ({ text: sentence.slice(at), goal: sentence.slice(0, at) }))
  return [...before, ...after].slice(0, MOST_TRIED).map(({ text, goal }) => {
    const kept = goal.replace(/[\s,.;:]+$/, '').trim()
    return { text: text.replace(/[\s,.;:!]+$/, '').trim(), goal: kept.charAt(0).toUpperCase() + kept.slice(1) }
  })
}

async function readTime (sentence: string): Promise<HeardTime | null> {
  for (const { text, goal } of timesIn(sentence)) {
    if (goal === '' || text === '') continue
    const preview = await previewSchedule({ ...asked(), body: { text } }).then(body)
    if (preview.understood && preview.next.length > 0) return { schedule: preview.schedule, words: preview.words, next: preview.next, goal }
  }
  return null
}

/** The query that looks for a time in a goal, such as "every weekday at 8, sum up the mail". */
export const heardTime = (goal: string) => queryOptions({
  queryKey: ['schedule preview', 'sentence', goal.trim()],
  queryFn: () => goal.length > LONGEST || goal.search(BEGIN) === -1 ? null : readTime(goal.trim()),
  retry: false
})

/** Returns the time that the goal of a form names. It is looked for when the user pauses typing. */
export function useHeardTime ({ goal }: FormValues): HeardTime | undefined {
  const settled = useSettled(goal, TYPING_MS)
  const { data } = useQuery(heardTime(settled))
  return settled === goal ? data ?? undefined : undefined
}

const typeOf = ({ schedule }: HeardTime) => schedule.interval === undefined ? 'one_shot' : 'recurring'

/** Returns the form values with the time in its own fields, and the goal without it. */
const withTime = (heard: HeardTime): Partial<FormValues> =>
  ({ goal: heard.goal, taskType: typeOf(heard), ...scheduleValues(heard.schedule), hasOwnTime: true })

/** Returns the body of a task whose goal names its time. */
export const bodyWithTime = (values: FormValues, heard: HeardTime): TaskBody =>
  ({ ...bodyOf({ ...values, goal: heard.goal, taskType: typeOf(heard) }), schedule: heard.schedule })

/** Shows the time that the goal names, with its next occurrences. The task gets this time unless the fields below hold another one. */
export function SentenceSchedule ({ heard, values, set }: FieldsProps & { heard: HeardTime }) {
  const { schedule, words, next, goal } = heard
  return (
    <div className='note' role='status'>
      <p>
        <strong lang='en'>{sayWords(words, schedule.timezone)}</strong>
        {' · '}{say('tasks.next')}{' '}
        {next.slice(0, 3).map((at, index) => <span key={at}>{index > 0 && ', '}<Time at={at} /></span>)}
      </p>
      {values.hasOwnTime
        ? <Button onClick={() => set({ hasOwnTime: false })}>{say('tasks.useTime')}</Button>
        : (
          <>
            <p className='quiet'>{say('tasks.heardGoal')} “<VisibleText text={goal} />”</p>
            <div className='actions'>
              <Button onClick={() => set(withTime(heard))}>{say('tasks.changeTime')}</Button>
              <Button kind='quiet' onClick={() => set({ hasOwnTime: true })}>{say('tasks.noTime')}</Button>
            </div>
          </>
          )}
    </div>
  )
}
