import type { FollowUp } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'
import { Button } from '../button.tsx'
import { Time } from '../time.tsx'

interface Props {
  works: readonly FollowUp[]
  /** Applies the changes that are not applied yet; absent for a run without a copy. */
  onApply?: () => void
  onTakeBack: (id: string) => void
}

/** The undos and applies of a run's changes, interrupted ones first. Each can be taken back. */
export function FollowUps ({ works, onApply, onTakeBack }: Props) {
  if (works.length === 0) return null
  const cut = works.filter(({ isCut }) => isCut)
  const whole = works.filter(({ isCut }) => !isCut)
  return (
    <>
      {cut.map(({ id, kind, paths, at }) => (
        <div key={id} className='note note-warn'>
          <p>{say(`changes.${kind}.cut`, { count: paths })} <Time at={at} /></p>
          {kind === 'apply' && onApply && <Button onClick={onApply}>{say('changes.apply.rest')}</Button>}
          <Button onClick={() => onTakeBack(id)}>{say(`changes.${kind}.takeBack`)}</Button>
        </div>
      ))}
      {whole.length > 0 && (
        <details>
          <summary>{say('changes.afterwards', { count: whole.length })}</summary>
          <ul className='undo-paths'>
            {whole.map(({ id, kind, paths, at }) => (
              <li key={id}>
                {say(`changes.${kind}.was`, { count: paths })} <span className='quiet'><Time at={at} /></span>{' '}
                <Button kind='quiet' onClick={() => onTakeBack(id)}>{say(`changes.${kind}.takeBack`)}</Button>
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  )
}
