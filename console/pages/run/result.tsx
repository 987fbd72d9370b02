import type { Run } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'
import { Values } from '../../parts/call/values.tsx'
import { VisibleText } from '../../parts/visible-text.tsx'

/** What the run answered or reported, and why it failed. */
export function Result ({ run: { output, object, error } }: { run: Run }) {
  return (
    <section className='section' aria-label={say('run.result')}>
      <h2>{say('run.result')}</h2>
      {error !== undefined && <div className='note note-bad'><VisibleText text={error} /></div>}
      {output !== undefined && <div className='report'><VisibleText text={output} limit={10_000} /></div>}
      {object !== undefined && <Values value={object} />}
      {output === undefined && object === undefined && error === undefined && <p className='quiet'>{say('run.noResult')}</p>}
    </section>
  )
}
