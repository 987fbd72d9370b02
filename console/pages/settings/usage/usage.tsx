import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { getUsage, type UsageReport } from '../../../../client/generated/index.ts'
import { keys } from '../../../lib/queries.ts'
import { numbers, say, sayDollars } from '../../../lib/say.ts'
import { asked, body } from '../../../lib/service.ts'
import { Empty } from '../../../parts/empty.tsx'
import { Loaded } from '../../../parts/loaded.tsx'
import { Tabs } from '../../../parts/tabs.tsx'
import { configQuery } from '../general/budget.tsx'
import { DayBars, ShareBar } from './day-bars.tsx'
import { sumOf, UsageTable } from './usage-table.tsx'

const GROUPS = { model: 'settings.byModel', role: 'settings.byRole', task: 'settings.byTask', thread: 'settings.byThread' } as const
type Grouping = keyof typeof GROUPS

const DAY_MS = 86_400_000
const sayDay = (day: string) => new Date(`${day}T00:00`).toLocaleDateString()

const useUsage = (by: Grouping | 'day') =>
  useQuery({ queryKey: [...keys.usage(), by], queryFn: () => getUsage({ ...asked(), query: { by } }).then(body) })

/** The usage of model calls: today, this month, on each of the last 30 days, and grouped in a table. */
export default function Usage () {
  const [by, setBy] = useState<Grouping>('model')
  const days = useUsage('day')
  const groups = useUsage(by)
  return (
    <Loaded query={days}>
      {(report) => report.groups.length === 0
        ? <Empty text={say('settings.noUsage')} />
        : (
          <>
            <Totals report={report} />
            <Days report={report} />
            <section className='section'>
              <Tabs label={say('settings.usageBy')} value={by} onChange={setBy} tabs={GROUPS} />
              <Loaded query={groups}>{({ groups }) => <UsageTable groups={groups} by={by} />}</Loaded>
            </section>
            <p className='quiet'>{say('settings.usageText', { from: sayDay(report.from), to: sayDay(report.to) })}</p>
          </>
          )}
    </Loaded>
  )
}

/** The totals of today and of this month, as far as the last 30 days reach, and the rest of the daily budget. */
function Totals ({ report: { groups, to } }: { report: UsageReport }) {
  const limit = useQuery(configQuery).data?.budget?.day?.usd
  const today = sumOf(groups.filter(({ key }) => key === to))
  const month = sumOf(groups.filter(({ key }) => key.slice(0, 7) === to.slice(0, 7)))
  const spent = today.costUsd ?? 0
  return (
    <dl className='totals'>
      {([['today', today], ['month', month]] as const).map(([name, sum]) => (
        <div key={name}>
          <dt>{say(`settings.usage_${name}`)}</dt>
          <dd className='total'>{sayDollars(sum.costUsd ?? 0)}</dd>
          <dd className='quiet'>{say('settings.usageTokens', { count: sum.inputTokens + sum.outputTokens })}</dd>
        </div>
      ))}
      <div>
        <dt>{say('settings.budget')}</dt>
        {limit === undefined
          ? <dd className='total'>{say('settings.budgetNone')}</dd>
          : (
            <dd>
              <span className='total'>{sayDollars(Math.max(limit - spent, 0))}</span>{' '}
              <span className='quiet'>{say('settings.budgetLeft', { limit: sayDollars(limit) })}</span>
              <ShareBar share={spent / limit} isFull={spent >= limit} />
            </dd>
            )}
        <dd><Link href='/settings/general'>{say('settings.budgetChange')}</Link></dd>
      </div>
    </dl>
  )
}

function Days ({ report: { groups, from, to } }: { report: UsageReport }) {
  const known = new Map(groups.map((group) => [group.key, group]))
  const all = daysOf(from, to).map((day) => ({ day, group: known.get(day) }))
  const tokens = all.map(({ day, group }) => ({ day, value: (group?.inputTokens ?? 0) + (group?.outputTokens ?? 0) }))
  const costs = all.map(({ day, group }) => ({ day, value: group?.costUsd ?? 0 }))
  const hasCosts = costs.some(({ value }) => value > 0)
  return (
    <div className='plots'>
      {hasCosts && <DayBars title={say('settings.costByDay')} days={costs} say={sayDollars} />}
      <DayBars title={say('settings.tokensByDay')} days={tokens} say={(value) => numbers.format(value)} />
    </div>
  )
}

/** Returns all days from one to another, both in the form 2026-01-31. */
function daysOf (from: string, to: string): string[] {
  const first = Date.parse(from)
  const count = Math.round((Date.parse(to) - first) / DAY_MS) + 1
  return Array.from({ length: count }, (_, n) => new Date(first + n * DAY_MS).toISOString().slice(0, 10))
}
