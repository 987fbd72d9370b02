import type { Phase } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'
import { Status } from '../../parts/status.tsx'
import { VisibleText } from '../../parts/visible-text.tsx'

/** The phases of the plan, and how far the run has come. */
export function Phases ({ phases }: { phases: Phase[] }) {
  return (
    <section className='section' aria-label={say('run.phases')}>
      <h2>{say('run.phases')}</h2>
      <ol className='list'>
        {phases.map(({ id, description, status }) => (
          <li key={id} className='row'>
            <span className='phase-status'><Status value={status} /></span>
            <span className='grow'><VisibleText text={description} limit={1_000} /></span>
          </li>
        ))}
      </ol>
    </section>
  )
}
