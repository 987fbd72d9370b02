import { Link } from 'wouter'
import type { UsageReport } from '../../../../client/generated/index.ts'
import { dollars, hasText, numbers, say } from '../../../lib/say.ts'
import { ThreadName } from '../../../parts/thread-name.tsx'
import { VisibleText } from '../../../parts/visible-text.tsx'
import { TaskName } from '../../tasks/task-name.tsx'
import { ShareBar } from './day-bars.tsx'

type Group = UsageReport['groups'][number]
type Grouping = 'model' | 'role' | 'task' | 'thread'
type Counts = Omit<Group, 'key'>

const MOST_ROWS = 100
const HEADS = { model: 'settings.byModel', role: 'settings.byRole', task: 'settings.byTask', thread: 'settings.byThread' } as const
const COUNTS = ['calls', 'inputTokens', 'cachedInputTokens', 'cacheWriteTokens', 'outputTokens', 'reasoningTokens'] as const
const weightOf = ({ costUsd, inputTokens, outputTokens }: Counts, isCost: boolean) => isCost ? costUsd ?? 0 : inputTokens + outputTokens

/** The usage by model, role, task or conversation, largest first, and the total. */
export function UsageTable ({ groups, by }: { groups: Group[], by: Grouping }) {
  const shown = groups.slice(0, MOST_ROWS)
  const isCost = groups.some(({ costUsd }) => costUsd !== undefined)
  const most = Math.max(...groups.map((group) => weightOf(group, isCost)), Number.MIN_VALUE)
  return (
    <div className='table-wrap' role='region' aria-label={say('settings.usage')} tabIndex={0}>
      <table className='usage-counts'>
        <thead>
          <tr>
            <th scope='col'>{say(HEADS[by])}</th>
            <th scope='col' className='numbers'>{say('settings.cost')}</th>
            {COUNTS.map((name) => <th key={name} scope='col' className='numbers'>{say(`settings.counts.${name}`)}</th>)}
          </tr>
        </thead>
        <tbody>
          {shown.map((group) => (
            <tr key={group.key}>
              <th scope='row'><Name of={group.key} by={by} /><ShareBar share={weightOf(group, isCost) / most} /></th>
              <Cells counts={group} />
            </tr>
          ))}
          {shown.length < groups.length && (
            <tr>
              <th scope='row'>{say('settings.moreGroups', { count: groups.length - shown.length })}</th>
              <Cells counts={sumOf(groups.slice(MOST_ROWS))} />
            </tr>
          )}
        </tbody>
        <tfoot>
          <tr>
            <th scope='row'>{say('settings.total')}</th>
            <Cells counts={sumOf(groups)} />
          </tr>
        </tfoot>
      </table>
    </div>
  )
}

const Cells = ({ counts }: { counts: Counts }) => (
  <>
    <td className='numbers' data-label={say('settings.cost')}>
      {counts.costUsd !== undefined && dollars.format(counts.costUsd)}
      {counts.unpricedCalls > 0 && <div className='quiet'>{say('settings.unpriced', { count: counts.unpricedCalls })}</div>}
    </td>
    {COUNTS.map((name) => (
      <td key={name} className='numbers' data-label={say(`settings.counts.${name}`)}>{numbers.format(counts[name])}</td>
    ))}
  </>
)

/** Returns the totals of several groups. */
export function sumOf (groups: Group[]): Counts {
  const sum = (name: (typeof COUNTS)[number] | 'unpricedCalls') => groups.reduce((total, group) => total + group[name], 0)
  const priced = groups.flatMap(({ costUsd }) => costUsd ?? [])
  return {
    calls: sum('calls'),
    inputTokens: sum('inputTokens'),
    cachedInputTokens: sum('cachedInputTokens'),
    cacheWriteTokens: sum('cacheWriteTokens'),
    outputTokens: sum('outputTokens'),
    reasoningTokens: sum('reasoningTokens'),
    unpricedCalls: sum('unpricedCalls'),
    ...priced.length > 0 && { costUsd: priced.reduce((total, cost) => total + cost, 0) }
  }
}

function Name ({ of: key, by }: { of: string, by: Grouping }) {
  if (key === '') return <>{say('settings.others')}</>
  if (by === 'task') return <Link href={`/tasks/${key}`}><TaskName id={key} /></Link>
  if (by === 'thread') return <ThreadName id={key} />
  const role = `settings.role.${key}`
  return <>{by === 'role' && hasText(role) ? say(role) : <VisibleText text={key} limit={200} />}</>
}
