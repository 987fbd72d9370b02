import type { TaskEvaluation, TaskToolCall } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'
import { Verdict } from '../../parts/not-verified.tsx'
import { ToolCall } from '../../parts/tool-call.tsx'
import { ServiceText } from '../../parts/service-text.tsx'
import { VisibleText } from '../../parts/visible-text.tsx'
import { sayScore } from './run-words.ts'

type Claim = NonNullable<TaskEvaluation['claims']>[number]

/** The judgement of a run: the effects that its report claims, each with the verdict of the recorded calls. */
export function Evaluation ({ evaluation, calls }: { evaluation: TaskEvaluation, calls: TaskToolCall[] }) {
  const { satisfied, qualityScore, outcome, issues, claims = [], evidence, judge } = evaluation
  /** The outcome that the first sentence already states. */
  const said = judge === 'none' ? undefined : satisfied ? 'done' : 'partly'
  return (
    <section className='section' aria-label={say('run.evaluation')}>
      <h2>{say('run.evaluation')}</h2>
      <p>
        {judge === 'none'
          ? say('run.callsAlone')
          : say(satisfied ? 'run.satisfied' : 'run.notSatisfied', { score: sayScore(qualityScore) })}
        {outcome && outcome !== said && ` ${say(`run.outcome.${outcome}`)}`}{' '}
        {evidence && judge !== 'none' && <span className='quiet'>{say(`run.evidence.${evidence}`)}</span>}
      </p>
      {issues.length > 0 && (
        <ul className='bulleted'>{issues.map((issue, at) => <li key={at}><ServiceText text={issue} limit={1_000} /></li>)}</ul>
      )}
      {claims.length > 0 && (
        <ul className='list' aria-label={say('run.claims')}>
          {claims.map((claim, at) => (
            <li key={at}><ClaimRow claim={claim} call={calls.find(({ toolCallId }) => toolCallId === claim.call)} /></li>
          ))}
        </ul>
      )}
    </section>
  )
}

function ClaimRow ({ claim: { claim, target, verdict, reason }, call }: { claim: Claim, call?: TaskToolCall }) {
  return (
    <div className='claim'>
      <div className='row'>
        <Verdict verdict={verdict} />
        <span className='grow'>
          <VisibleText text={claim} limit={1_000} />{target !== undefined && <> <code><VisibleText text={target} limit={500} /></code></>}
          {reason !== undefined && <span className='quiet'> <ServiceText text={reason} limit={1_000} /></span>}
        </span>
      </div>
      {call && <ToolCall call={call} />}
    </div>
  )
}
