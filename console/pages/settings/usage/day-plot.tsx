import { useEffect, useRef } from 'react'
import Plot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import type { UsageReport } from '../../../../client/generated/index.ts'

interface Series {
  name: string
  /** A colour of the theme. */
  colour: 'accent' | 'good' | 'warn'
  values: number[]
}

const HEIGHT = 220
const secondsOf = (day: string) => new Date(`${day}T00:00`).getTime() / 1_000

/** Numbers by day as bars or lines. The table below it has the same numbers for people who cannot see it. */
export function DayPlot ({ report: { from, to, groups }, title, series }: { report: UsageReport, title: string, series: Series[] }) {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = place.current!
    const style = getComputedStyle(element)
    const colour = (name: string) => style.getPropertyValue(`--${name}`).trim()
    const axis = { stroke: colour('text-quiet'), grid: { stroke: colour('line'), width: 1 }, ticks: { stroke: colour('line'), width: 1 } }
    const plot = new Plot({
      width: element.clientWidth,
      height: HEIGHT,
      scales: { x: { range: [secondsOf(from), secondsOf(to) + 86_400] }, y: { range: (_, __, max) => [0, max || 1] } },
      axes: [axis, { ...axis, size: 72 }],
      series: [
        { value: (_, at) => at == null ? '' : new Date(at * 1_000).toLocaleDateString() },
        ...series.map(({ name, colour: own }) => ({ label: name, stroke: colour(own), width: 2, points: { show: true, size: 6 } }))
      ]
    }, [groups.map(({ key }) => secondsOf(key)), ...series.map(({ values }) => values)], element)
    const watcher = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }))
    watcher.observe(element)
    return () => {
      watcher.disconnect()
      plot.destroy()
    }
  }, [from, to, groups, series])
  return <div className='plot' ref={place} role='img' aria-label={title} />
}
