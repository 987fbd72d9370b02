import type { Slot } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'
import { sayExactTime, useNow } from '../../lib/time.ts'
import { FATES } from './fates.ts'

/** Past times on the line. */
const PAST = 10

/** Where two times would be closer than this part of the line, the times are spread evenly. */
const CLOSEST = 1 / 40

/** Places on the line, 0 to 1, by time: in true proportion when that keeps the times apart, else evenly in their order. */
function placesOf (times: number[]): Map<number, number> {
  const sorted = [...new Set(times)].sort((a, b) => a - b)
  const length = sorted[sorted.length - 1] - sorted[0] || 1
  const places = sorted.map((at) => (at - sorted[0]) / length)
  const isTight = places.some((place, at) => at > 0 && place - places[at - 1] < CLOSEST)
  return new Map(sorted.map((at, rank) => [at, isTight ? rank / Math.max(sorted.length - 1, 1) : places[rank]]))
}

/** The last and the next planned times on a line, with the present between them. Lists say the same in words. */
export function TimeLine ({ upcoming, slots }: { upcoming: number[], slots: Slot[] }) {
  const now = useNow()
  const past = slots.slice(0, PAST)
  const places = placesOf([now, ...upcoming, ...past.map(({ at }) => at)])
  const place = (at: number) => ({ insetInlineStart: `${places.get(at)! * 100}%` })
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
