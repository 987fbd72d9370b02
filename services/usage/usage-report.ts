import type { UsageGroup, UsageGrouping, UsageQuery, UsageReport } from '../../schemas/usage.ts'
import type { Clock } from '../lib/clock.ts'
import { defineError } from '../lib/service-error.ts'
import { dayOf, type DayRow, DAYS_KEPT, daysBefore, daysBetween, isDay, type UsageOwner, type UsageRepository } from './usage-repository.ts'
import { addTally, roundUsd, type Tally } from './usage-sums.ts'

const BadRange = defineError('ERR_INVALID_REQUEST', '%s')

/** The most groups in an answer. The calls of further, smaller groups are added up in the group REST. */
const MAX_GROUPS = 1_000
/** The number of days in an answer if the request names no first day. */
const DEFAULT_DAYS = 30
/** The key of the group for all calls without a group of their own. */
const REST = ''

/** Creates the report of `GET /usage`. */
export function createUsageReport ({ repository, clock }: { repository: UsageRepository, clock: Clock }) {
  /** Returns the range of days of a query. Throws BadRange (400). */
  function rangeOf ({ from, to = dayOf(clock.now()) }: UsageQuery): { from: string, to: string } {
    const first = from ?? daysBefore(to, DEFAULT_DAYS - 1)
    for (const day of [first, to]) if (!isDay(day)) throw new BadRange(`The calendar has no day ${day}.`)
    if (first > to) throw new BadRange(`"from" (${first}) must not be later than "to" (${to}).`)
    if (daysBetween(first, to) >= DAYS_KEPT) throw new BadRange(`The range may span ${DAYS_KEPT} days; usage is kept no longer.`)
    return { from: first, to }
  }

  /**
   * Groups the calls by thread or task. Calls of deleted threads and tasks are only in the daily totals, so the
   * group REST gets these totals minus all other groups.
   */
  async function byOwner (kind: UsageOwner['kind'], from: string, to: string): Promise<Map<string, Tally>> {
    const groups = new Map<string, Tally>()
    let rest: Tally | undefined
    for await (const [, rows] of repository.days(from, to)) {
      for (const row of rows) if (row.of === kind) rest = addTally(rest, tallyIn(row))
    }
    for await (const { id, days } of repository.owners(kind)) {
      for (const [day, tally] of Object.entries(days)) if (day >= from && day <= to) groups.set(id, addTally(groups.get(id), tally))
    }
    for (const tally of groups.values()) rest = rest && subtract(rest, tally)
    if (rest !== undefined && rest.calls > 0) groups.set(REST, rest)
    return groups
  }

  async function byRow (keyOf: (row: DayRow, day: string) => string, from: string, to: string): Promise<Map<string, Tally>> {
    const groups = new Map<string, Tally>()
    for await (const [day, rows] of repository.days(from, to)) {
      for (const row of rows) groups.set(keyOf(row, day), addTally(groups.get(keyOf(row, day)), tallyIn(row)))
    }
    return groups
  }

  function group (by: UsageGrouping, from: string, to: string): Promise<Map<string, Tally>> {
    switch (by) {
      case 'day':
        return byRow((_row, day) => day, from, to)
      case 'model':
        return byRow(({ model }) => model, from, to)
      case 'role':
        return byRow(({ role }) => role, from, to)
      case 'task':
      case 'thread':
        return byOwner(by, from, to)
    }
  }

  /** Returns the usage of a range of days in groups. Throws BadRange (400). */
  return async (query: UsageQuery): Promise<UsageReport> => {
    const { from, to } = rangeOf(query)
    const groups = await group(query.by, from, to)
    const largest = [...groups].sort(query.by === 'day' ? ([a], [b]) => a < b ? -1 : 1 : ([, a], [, b]) => tokensOf(b) - tokensOf(a))
    const named = largest.filter(([key]) => key !== REST)
    const rest = [...named.slice(MAX_GROUPS), ...largest.filter(([key]) => key === REST)].map(([, tally]) => tally)
    const shown = named.slice(0, MAX_GROUPS).map(([key, tally]): UsageGroup => ({ key, ...tally }))
    return { from, to, groups: rest.length === 0 ? shown : [...shown, { key: REST, ...rest.reduce(addTally) }] }
  }
}

const tokensOf = ({ inputTokens, outputTokens }: Tally) => inputTokens + outputTokens
const tallyIn = ({ model, role, of, ...tally }: DayRow): Tally => tally

/** Subtracts a part from a tally. */
function subtract (whole: Tally, part: Tally): Tally {
  return {
    calls: whole.calls - part.calls,
    inputTokens: whole.inputTokens - part.inputTokens,
    cachedInputTokens: whole.cachedInputTokens - part.cachedInputTokens,
    cacheWriteTokens: whole.cacheWriteTokens - part.cacheWriteTokens,
    outputTokens: whole.outputTokens - part.outputTokens,
    reasoningTokens: whole.reasoningTokens - part.reasoningTokens,
    ...(whole.costUsd !== undefined && { costUsd: roundUsd(whole.costUsd - (part.costUsd ?? 0)) }),
    ...(whole.costEstimateOf !== undefined && { costEstimateOf: whole.costEstimateOf }),
    unpricedCalls: whole.unpricedCalls - part.unpricedCalls
  }
}
