import { median } from './stats.ts'
import { NAMES, type Name } from './subjects.ts'

type Pair = typeof NAMES[number]

export interface Row {
  what: string
  unit: string
  floor?: number
  service: number
  /** The median ratio of service to floor over all repetitions; absent for absolute figures. */
  ratio?: number
  /** The ratios of all repetitions, sorted, to show their spread. */
  ratios?: number[]
  /** The limit that the figure must not miss; absent for a figure that is only informative. */
  bar?: number
  /** True if the figure must be at least `bar`; otherwise it must be at most `bar`. */
  atLeast?: boolean
  pass: boolean
}

interface Measure {
  what: string
  unit: string
  bar: number
  atLeast?: boolean
}

/** Measures the subjects alternately, so that a slow phase of the machine affects all of them. */
export async function byTurns<T, N extends string = Pair> (
  times: number,
  measure: (name: N) => Promise<T>,
  names: readonly N[] = NAMES as readonly string[] as N[]
) {
  const all: Array<Record<N, T>> = []
  for (let turn = 0; turn < times; turn++) {
    const figures = {} as Record<N, T>
    // The order alternates, so that no subject is always first.
    for (const name of turn % 2 === 0 ? names : names.toReversed()) figures[name] = await measure(name)
    all.push(figures)
  }
  return all
}

/** Returns the row for a figure that was measured alternately. */
export function ratioRow (measure: Measure, figures: Array<Record<Pair, number>>): Row {
  const ratios = figures.map(({ floor, service }) => service / floor).toSorted((a, b) => a - b)
  const ratio = median(ratios)
  return {
    ...measure,
    floor: median(figures.map(({ floor }) => floor)),
    service: median(figures.map(({ service }) => service)),
    ratio,
    ratios,
    pass: measure.atLeast ? ratio >= measure.bar : ratio <= measure.bar
  }
}

/**
 * Returns two rows for a figure that depends on bundling: compared with the floor as a bundle, like the service, and with the floor as a
 * script.
 */
export function packedRows (measure: Measure, figures: Array<Record<Name, number>>): Row[] {
  return [
    ratioRow({ ...measure, what: `${measure.what}, floor bundled` }, figures),
    ratioRow({ ...measure, what: `${measure.what}, floor a script` }, figures.map(({ plain, service }) => ({ floor: plain, service })))
  ]
}

/** Returns the row for a figure that has no counterpart in the floor. */
export function absoluteRow (measure: Measure, service: number, floor?: number): Row {
  return { ...measure, service, floor, pass: service <= measure.bar }
}
