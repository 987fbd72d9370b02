import type { Slot } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'
import { sayExactTime, useNow } from '../../lib/time.ts'
import { FATES } from './fates.ts'

/** Past times on the line. */
const PAST = 10

/** The last and the next planned times on a line, in true proportion, with the present between them. Lists say the same in words. */
export function TimeLine ({ upcoming, slots }: { upcoming: number[], slots: Slot[] }) {
  const now = useNow()
  const past = slots.slice(0, PAST)
  const all = [now, ...upcoming, ...past.map(({ at }) => at)]
  const begin = Math.min(...all)
  const length = Math.max(...all) - begin
  if (length === 0) return null
  const place = (at: number) => ({ insetInlineStart: `${(at - begin) / length * 100}%` })
  return (
    <div className='time-line' role='img' aria-label={say('tasks.timeLine', { past: past.length, next: upcoming.length })}>
      <span className='time-line-now' style={place(now)} title={say('time.now')} />
      {past.map(({ at, fate }) => (
        <span
          key={`past ${at}`}
          className={`status-${FATES[fate][1]}`}
          style={place(at)}
          title={`${sayExactTime(at)}: ${say(`tasks.fate.${fate}`)}`}
        >
          {FATES[fate][0]}
        </span>
      ))}
      {upcoming.map((at) => <span key={at} className='status-calm' style={place(at)} title={sayExactTime(at)}>○</span>)}
    </div>
  )
}
