import { useState, type ReactNode } from 'react'
import { Link } from 'wouter'
import type { Approval, Learned } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'
import { Covers } from '../covers.tsx'

/** The calls that later runs of a task are allowed to make without asking. */
function Lessons ({ texts }: { texts: readonly string[] }) {
  return (
    <ul>
      {texts.map((text) => <li key={text}><Covers text={text} limit={1_000} /></li>)}
    </ul>
  )
}

/** The calls that the approval would permit for later runs of the task. */
export function Teaches ({ kind, teaches = [] }: Pick<Approval, 'kind' | 'teaches'>) {
  if (teaches.length === 0) return null
  return (
    <div className='note'>
      <p>{say(kind === 'result' ? 'approval.teachesByResult' : 'approval.teachesByCall')}</p>
      <Lessons texts={teaches} />
    </div>
  )
}

/**
 * Keeps the note about the grants of the last approved result visible, because the item itself leaves the list. Returns the note, and the
 * callback for the items.
 */
export function useLearned (): { learned: ReactNode, onLearned: (learned: Learned) => void } {
  const [learned, onLearned] = useState<Learned>()
  return { learned: learned && learned.grants.length > 0 ? <LearnedNote {...learned} /> : undefined, onLearned }
}

function LearnedNote ({ inForce, runsLeft, grants }: Learned) {
  return (
    <div className='note' role='status'>
      <p>{inForce ? say('approval.learned') : say('approval.learnedLater', { count: runsLeft })}</p>
      <Lessons texts={grants.map(({ text }) => text)} />
      <p><Link href='/settings/grants'>{say('approval.learnedEnd')}</Link></p>
    </div>
  )
}
