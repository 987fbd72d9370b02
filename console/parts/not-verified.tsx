import { Check, CircleHelp, X } from 'lucide-react'
import type { TaskEvaluation } from '../../client/generated/index.ts'
import { say } from '../lib/say.ts'

const VERDICTS = { confirmed: [Check, 'good'], contradicted: [X, 'bad'], unchecked: [CircleHelp, 'calm'] } as const

/** The verdict of a run's calls about one claim of its report. */
export function Verdict ({ verdict }: { verdict: keyof typeof VERDICTS }) {
  const [Sign, tone] = VERDICTS[verdict]
  return <span className={`status status-${tone}`}><Sign /> {say(`run.verdict.${verdict}`)}</span>
}

type Judged = Partial<Pick<TaskEvaluation, 'verified' | 'evidence' | 'judge'>>

/** Returns why the report of a run is not verified; undefined if it is. Only `doubted` is a reason to check it. */
export function unverifiedOf ({ verified, evidence, judge }: Judged): 'notJudged' | 'unchecked' | 'doubted' | undefined {
  if (verified !== false) return undefined
  return judge === 'none' ? 'notJudged' : evidence === 'unchecked' ? 'unchecked' : 'doubted'
}

/** The mark beside the state of a run whose report its calls do not confirm, or which nobody has judged. */
export function NotVerified (judged: Judged) {
  const why = unverifiedOf(judged)
  if (why === undefined) return null
  return (
    <span className={`status status-${why === 'doubted' ? 'warn' : 'calm'}`} title={say(`run.unverifiedWhy.${why}`)}>
      <CircleHelp /> {say(`run.unverified.${why}`)}
    </span>
  )
}
