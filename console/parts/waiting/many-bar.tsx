import type { Approval } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'
import { Button } from '../button.tsx'
import { Covers } from '../covers.tsx'
import { Failed } from '../failed.tsx'
import { GuardedButton } from './guarded-button.tsx'
import { decisionOf, useManyCalls, type Verdict } from './many-calls.tsx'

type Scopes = NonNullable<Approval['scopes']>

/** The maximum number of scopes that are offered for the selected calls together. */
const MOST_OFFERED = 6

/** Returns the scopes that can be granted for later calls, each with one of the calls as an example. */
function widerScopes (calls: readonly Approval[]): Array<{ call: Approval } & Scopes[number]> {
  const offered = new Map<string, { call: Approval } & Scopes[number]>()
  for (const call of calls) {
    for (const { scope, text } of call.scopes ?? []) {
      if (scope !== 'once' && scope !== 'exact' && !offered.has(text)) offered.set(text, { call, scope, text })
    }
  }
  return [...offered.values()].slice(0, MOST_OFFERED)
}

/** Decides many calls at once; renders nothing if fewer than two wait. */
export function ManyBar () {
  const many = useManyCalls()
  if (many === undefined) return null
  const { calls, checked, check, staged, takeBack, send, asksAgain, isPending, error, outcome } = many
  if (calls.length < 2 && staged.size === 0) return outcome === undefined ? null : <p className='quiet' role='status'>{outcome}</p>
  const chosen = calls.filter(({ approvalId }) => checked.has(approvalId))
  const decide = (verdict: Verdict) => send(chosen.map((call) => [call, decisionOf(call, verdict)]))
  const wider = widerScopes(chosen)
  return (
    <section className='many-bar' aria-label={say('approval.many.title')}>
      <label className='many-all'>
        <input
          type='checkbox' checked={chosen.length === calls.length}
          ref={(box) => { if (box !== null) box.indeterminate = chosen.length > 0 && chosen.length < calls.length }}
          onChange={({ target }) => check(calls.map(({ approvalId }) => approvalId), target.checked)}
        />
        {chosen.length === 0 ? say('approval.many.all', { count: calls.length }) : say('approval.many.chosen', { count: chosen.length })}
      </label>
      {chosen.length > 0 && (
        <div className='actions'>
          <GuardedButton kind='primary' isBusy={isPending} onPress={() => decide('allow')}>
            {say('approval.many.allow', { count: chosen.length })}
          </GuardedButton>
          <GuardedButton isBusy={isPending} onPress={() => decide('deny')}>{say('approval.deny')}</GuardedButton>
        </div>
      )}
      {wider.length > 0 && (
        <details className='many-always'>
          <summary>{say('approval.many.always')}</summary>
          <ul>
            {wider.map(({ call, scope, text }) => (
              <li key={text}>
                <GuardedButton isBusy={isPending} onPress={() => send([[call, { approved: true, scope }]])}>
                  <Covers text={text} />
                </GuardedButton>
              </li>
            ))}
          </ul>
          <p className='quiet'>{say('approval.holdsIn')}</p>
        </details>
      )}
      {staged.size > 0 && (
        <p role='status'>
          {say('approval.many.staged', { count: staged.size })}{' '}
          <Button kind='quiet' onClick={takeBack}>{say('approval.many.takeBack')}</Button>
        </p>
      )}
      {asksAgain && <p className='note note-warn'>{say('approval.old')}</p>}
      {error !== null && <Failed error={error} />}
      {outcome !== undefined && <p className='quiet' role='status'>{outcome}</p>}
    </section>
  )
}

/** The checkbox that selects a call, or the decision that a key has made about it. */
export function ManyBox ({ approval: { approvalId } }: { approval: Approval }) {
  const many = useManyCalls()
  if (many === undefined || !many.calls.some((call) => call.approvalId === approvalId)) return null
  const verdict = many.staged.get(approvalId)
  return (
    <>
      {many.calls.length > 1 && (
        <label className='many-tick'>
          <input
            type='checkbox' className='many-box' aria-labelledby={`title-${approvalId}`}
            checked={many.checked.has(approvalId)} onChange={({ target }) => many.check([approvalId], target.checked)}
          />
        </label>
      )}
      {verdict !== undefined && <strong className={`verdict-${verdict}`}>{say(`approval.many.verdict.${verdict}`)}</strong>}
    </>
  )
}
