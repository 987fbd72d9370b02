import { Link } from 'wouter'
import type { UsageReport } from '../../../../client/generated/index.ts'
import { numbers, say } from '../../../lib/say.ts'

type Group = UsageReport['groups'][number]
type Grouping = 'model' | 'role' | 'task' | 'thread'

const MOST_ROWS = 100
const dollars = new Intl.NumberFormat(undefined, { style: 'currency', currency: 'USD', maximumFractionDigits: 4 })
const HEADS = { model: 'settings.byModel', role: 'settings.byRole', task: 'settings.byTask', thread: 'settings.byThread' } as const

/** The usage of each model, role, task or conversation, the most first. */
export function UsageTable ({ groups, by }: { groups: Group[], by: Grouping }) {
  return (
    <div className='table-wrap'>
      <table>
        <thead>
          <tr>
            <th scope='col'>{say(HEADS[by])}</th>
            {(['calls', 'input', 'cached', 'output', 'cost'] as const).map((name) => (
              <th key={name} scope='col' className='numbers'>{say(`settings.${name}`)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {groups.slice(0, MOST_ROWS).map((group) => (
            <tr key={group.key}>
              <th scope='row'><Name group={group} by={by} /></th>
              <td className='numbers'>{numbers.format(group.calls)}</td>
              <td className='numbers'>{numbers.format(group.inputTokens)}</td>
              <td className='numbers'>{numbers.format(group.cachedInputTokens)}</td>
              <td className='numbers'>{numbers.format(group.outputTokens)}</td>
              <td className='numbers'>
                {group.costUsd !== undefined && dollars.format(group.costUsd)}
                {group.unpricedCalls > 0 && <div className='quiet'>{say('settings.unpriced', { count: group.unpricedCalls })}</div>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Name ({ group: { key }, by }: { group: Group, by: Grouping }) {
  if (key === '') return <>{say('settings.others')}</>
  if (by === 'task') return <Link href={`/tasks/${key}`}>{key}</Link>
  return by === 'thread' ? <Link href={`/chat/${encodeURIComponent(key)}`}>{key}</Link> : <>{key}</>
}
