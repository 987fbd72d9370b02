import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { getUsage, type UsageReport } from '../../../../client/generated/index.ts'
import { keys } from '../../../lib/queries.ts'
import { say } from '../../../lib/say.ts'
import { asked, body } from '../../../lib/service.ts'
import { Empty } from '../../../parts/empty.tsx'
import { Loaded } from '../../../parts/loaded.tsx'
import { Tabs } from '../../../parts/tabs.tsx'
import { DayPlot } from './day-plot.tsx'
import { UsageTable } from './usage-table.tsx'

const GROUPS = { model: 'settings.byModel', role: 'settings.byRole', task: 'settings.byTask', thread: 'settings.byThread' } as const
type Grouping = keyof typeof GROUPS

const sayDay = (day: string) => new Date(`${day}T00:00`).toLocaleDateString()

const useUsage = (by: Grouping | 'day') =>
  useQuery({ queryKey: [...keys.usage(), by], queryFn: () => getUsage({ ...asked(), query: { by } }).then(body) })

/** What model calls used in the last 30 days: by day as plots, and grouped as a table. */
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
            <p className='quiet'>{say('settings.usageText', { from: sayDay(report.from), to: sayDay(report.to) })}</p>
            <Plots report={report} />
            <section className='section'>
              <Tabs label={say('settings.usageBy')} value={by} onChange={setBy} tabs={GROUPS} />
              <Loaded query={groups}>{({ groups }) => <UsageTable groups={groups} by={by} />}</Loaded>
            </section>
          </>
          )}
    </Loaded>
  )
}

function Plots ({ report }: { report: UsageReport }) {
  const { groups } = report
  return (
    <>
      <section className='section'>
        <h2>{say('settings.tokensByDay')}</h2>
        <DayPlot
          report={report}
          title={say('settings.tokensByDay')}
          series={[
            { name: say('settings.counts.inputTokens'), colour: 'accent', values: groups.map((day) => day.inputTokens) },
            { name: say('settings.counts.cachedInputTokens'), colour: 'good', values: groups.map((day) => day.cachedInputTokens) },
            { name: say('settings.counts.outputTokens'), colour: 'warn', values: groups.map((day) => day.outputTokens) }
          ]}
        />
      </section>
      {groups.some(({ costUsd }) => costUsd !== undefined) && (
        <section className='section'>
          <h2>{say('settings.costByDay')}</h2>
          <DayPlot
            report={report}
            title={say('settings.costByDay')}
            series={[{ name: say('settings.cost'), colour: 'accent', values: groups.map((day) => day.costUsd ?? 0) }]}
          />
        </section>
      )}
    </>
  )
}
