import type { Trial } from './trial.ts'

const HEAD = ['goal', 'passed', 'steps', 'calls', 'tokens in', 'tokens out', 'cost', 'time']
const COUNTS = ['steps', 'calls', 'inputTokens', 'outputTokens'] as const

/** Returns the trials of each goal, in the order in which the goals first appear. */
export function byGoal (trials: readonly Trial[]): Map<string, Trial[]> {
  const goals = new Map<string, Trial[]>()
  for (const trial of trials) goals.set(trial.goal, [...goals.get(trial.goal) ?? [], trial])
  return goals
}

/**
 * Returns a table with one line per goal: medians over its trials, and the sum of their cost. Below the table is the first failed check of
 * each trial.
 */
export function tableOf (trials: readonly Trial[]): string {
  const goals = [...byGoal(trials)]
  const lines = goals.map(([goal, of]) => [
    goal,
    of.length === 1 ? of[0].passed ? 'yes' : 'NO' : `${passed(of)} of ${of.length}`,
    ...COUNTS.map((field) => count(median(of.map((each) => each[field])))),
    costOf(of),
    seconds(median(of.map(({ ms }) => ms)))
  ])
  const widths = HEAD.map((title, column) => Math.max(title.length, ...lines.map((line) => line[column].length)))
  const print = (cells: string[]) =>
    cells.map((cell, column) => column < 2 ? cell.padEnd(widths[column]) : cell.padStart(widths[column])).join('  ').trimEnd()
  const failures = trials.filter((each) => !each.passed).map(failureOf)
  const faults = trials.flatMap((each) => each.faults.map((fault) => `${each.goal}: a fault of the service: ${fault}`))
  return [print(HEAD), ...lines.map(print), ...[failures, faults].flatMap((list) => list.length > 0 ? ['', ...list] : [])].join('\n')
}

/** Returns the first failed check, in words, and the folder with the files. */
export const failureOf = ({ goal, problems: [{ check, found }], folder }: Trial) =>
  `${goal}: expected: ${check}. Found: ${found}${folder === undefined ? '' : `\n  Its files are in ${folder}`}`

/** Returns one line: the passed goals, the cost, and the median time of a goal. */
export function summaryOf (trials: readonly Trial[], { model, notTried = 0 }: { model: string, notTried?: number }): string {
  const goals = [...byGoal(trials).values()]
  const count = trials.length
  const good = passed(trials)
  const repeated = count > goals.length
  const rate = repeated
    ? `${good} of ${count} trials passed (${percent(good / count)}, 95 % interval ${interval(good, count).map(percent).join(' to ')}), ` +
      `${goals.filter((each) => passed(each) === each.length).length} of ${goals.length} goals always`
    : `${good} of ${goals.length} goals passed`
  const time = count === 0 ? '' : `, median time ${seconds(median(trials.map(({ ms }) => ms)))}`
  const rest = notTried === 0 ? '' : `; ${notTried} not tried, the budget is spent`
  return `${model}: ${rate}, cost ${costOf(trials)}${time}${rest}.`
}

const passed = (trials: readonly Trial[]) => trials.filter((each) => each.passed).length

/** Returns the total cost; `+` is added if the price of some calls is unknown, and `?` is returned if no price is known. */
function costOf (trials: readonly Trial[]): string {
  const known = trials.flatMap(({ costUsd }) => costUsd ?? [])
  if (known.length === 0) return '?'
  const isPartial = known.length < trials.length || trials.some((each) => each.isPartial)
  return `$${known.reduce((sum, cost) => sum + cost, 0).toFixed(3)}${isPartial ? '+' : ''}`
}

/** Returns Wilson's 95 % confidence interval of a rate, which is also valid for few trials and for rates of 0 and 1. */
export function interval (good: number, all: number): [low: number, high: number] {
  const z = 1.96
  const rate = good / all
  const middle = rate + z ** 2 / (2 * all)
  const half = z * Math.sqrt(rate * (1 - rate) / all + z ** 2 / (4 * all ** 2))
  const scale = 1 + z ** 2 / all
  return [Math.max(0, (middle - half) / scale), Math.min(1, (middle + half) / scale)]
}

export function median (values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const half = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2
}

const count = (value: number) => Math.round(value).toLocaleString('en')
const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
const percent = (rate: number) => `${Math.round(rate * 100)} %`
