import { useId } from 'react'
import type { Approval, ApprovalDecision } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'
import { Covers } from '../covers.tsx'

const ENDS = ['open', 'hour', 'today', 'ten'] as const
type End = typeof ENDS[number]
const HOUR_MS = 60 * 60_000

/** The chosen scope of an approval, and its end. */
export interface Chosen {
  /** `usual` stands for a decision without a scope. */
  scope: NonNullable<ApprovalDecision['scope']> | 'usual'
  end: End
}

/** Returns the fields of a decision. The end of its grant is counted from now. */
export function grantOf ({ scope, end }: Chosen): Pick<ApprovalDecision, 'scope' | 'until'> {
  const until = untilOf(end)
  if (scope === 'usual') return {}
  return scope === 'once' ? { scope } : { scope, ...until && { until } }
}

/** Returns true if later calls still ask, except for those that the approval teaches the task. */
export const isOfCall = ({ scope }: Chosen): boolean => scope === 'once' || scope === 'usual'

function untilOf (end: End): ApprovalDecision['until'] {
  switch (end) {
    case 'open':
      return undefined
    case 'hour':
      return { at: Date.now() + HOUR_MS }
    case 'today':
      return { at: new Date().setHours(24, 0, 0, 0) }
    case 'ten':
      return { uses: 10 }
  }
}

interface Props {
  scopes: NonNullable<Approval['scopes']>
  /** True if an approval without a scope teaches the task. */
  isTeaching: boolean
  chosen: Chosen
  onChoose: (chosen: Chosen) => void
}

/** The choice of what an approval covers: this call, or also later ones, for a time. */
export function Scopes ({ scopes, isTeaching, chosen, onChoose }: Props) {
  const group = useId()
  const [once, ...wider] = scopes
  const usual = { scope: 'usual' as const, text: isTeaching ? say('approval.usual') : once.text }
  const offered = isTeaching ? [usual, ...scopes] : [usual, ...wider]
  const covered = isTeaching && chosen.scope === 'usual' ? 'teaching' : chosen.scope
  return (
    <details className='scopes'>
      <summary>{say('approval.scope')} <span className='quiet'>{say(`approval.covers.${covered}`)}</span></summary>
      <fieldset>
        <legend className='visually-hidden'>{say('approval.scope')}</legend>
        {offered.map(({ scope, text }) => (
          <label key={scope}>
            <input
              type='radio'
              name={group}
              value={scope}
              checked={scope === chosen.scope}
              onChange={() => onChoose({ ...chosen, scope })}
            />
            <span><Covers text={text} /></span>
          </label>
        ))}
        {!isOfCall(chosen) && <p className='quiet'>{say('approval.holdsIn')}</p>}
        {!isOfCall(chosen) && (
          <label className='field until'>
            <span>{say('approval.howLong')}</span>
            <select value={chosen.end} onChange={({ target }) => onChoose({ ...chosen, end: target.value as End })}>
              {ENDS.map((end) => <option key={end} value={end}>{say(`approval.end.${end}`)}</option>)}
            </select>
          </label>
        )}
      </fieldset>
    </details>
  )
}
