import type { Run } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'
import { sayFacts } from '../../lib/say-facts.ts'
import { Values } from '../../parts/call/values.tsx'
import Report from '../../parts/markdown/report.tsx'
import { Failed } from '../../parts/failed.tsx'
import { unverifiedOf } from '../../parts/not-verified.tsx'
import { VisibleText } from '../../parts/visible-text.tsx'

/** The answer or report of a run, and the reason of its failure. */
export function Result ({ run: { output, object, error, facts, evaluation } }: { run: Run }) {
  return (
    <section className='section' aria-label={say('run.result')}>
      <h2>{say('run.result')}</h2>
      {error !== undefined && <Failed error={new Error(error)} />}
      {output !== undefined && <div className='report'><Report text={output} /></div>}
      {object !== undefined && <Values value={object} />}
      {unverifiedOf({ ...evaluation }) === 'doubted' && <p>{say('run.unverifiedWhy.doubted')}</p>}
      {facts !== undefined && <p className='quiet'><VisibleText text={sayFacts(facts)} limit={1_000} /></p>}
      {output === undefined && object === undefined && error === undefined && <p className='quiet'>{say('run.noResult')}</p>}
    </section>
  )
}
