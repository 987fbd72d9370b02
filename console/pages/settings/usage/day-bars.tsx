import { useId } from 'react'

interface Props {
  title: string
  /** A value for each day, oldest first. */
  days: Array<{ day: string, value: number }>
  say: (value: number) => string
}

const HEIGHT = 120
const WIDTH = 18
const GAP = 4
const dayNames = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' })
const nameOf = (day: string) => dayNames.format(new Date(`${day}T00:00`))

/** A bar for each day. The table below holds the same numbers for people who cannot see the bars. */
export function DayBars ({ title, days, say }: Props) {
  const id = useId()
  const most = Math.max(...days.map(({ value }) => value), Number.MIN_VALUE)
  const width = days.length * (WIDTH + GAP)
  return (
    <figure className='bars'>
      <figcaption id={id}><h2>{title}</h2><span className='quiet'>{say(most)}</span></figcaption>
      <svg viewBox={`0 0 ${width} ${HEIGHT}`} preserveAspectRatio='none' role='img' aria-labelledby={id}>
        {days.map(({ day, value }, at) => {
          const height = Math.max(value / most * (HEIGHT - 2), value > 0 ? 2 : 1)
          return (
            <rect
              key={day} x={at * (WIDTH + GAP)} y={HEIGHT - height} width={WIDTH} height={height}
              className={value > 0 ? 'bar' : 'bar bar-none'}
            >
              <title>{`${nameOf(day)}: ${say(value)}`}</title>
            </rect>
          )
        })}
      </svg>
      <p className='quiet bars-ends'><span>{nameOf(days[0].day)}</span><span>{nameOf(days.at(-1)!.day)}</span></p>
    </figure>
  )
}

/** A bar that shows a fraction of a whole, from 0 to 1. */
export function ShareBar ({ share, isFull = false }: { share: number, isFull?: boolean }) {
  return (
    <svg className='share' viewBox='0 0 100 4' preserveAspectRatio='none' aria-hidden='true'>
      <rect width='100' height='4' className='bar-none' />
      <rect width={Math.min(share, 1) * 100} height='4' className={isFull ? 'bar-full' : 'bar'} />
    </svg>
  )
}
