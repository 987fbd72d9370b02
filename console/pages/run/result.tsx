import type { Run } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'
import { sayFacts } from '../../lib/say-facts.ts'
import { Values } from '../../parts/call/values.tsx'
import { BlockView } from '../../parts/markdown/block-view.tsx'
import { headingLevels } from '../../parts/markdown/heading-levels.ts'
import { createReferences } from '../../parts/markdown/references.ts'
import { splitBlocks } from '../../parts/markdown/split-blocks.ts'
import { Failed } from '../../parts/failed.tsx'
import { VisibleText } from '../../parts/visible-text.tsx'

/** A longer report is shown as plain text, which can be cut. */
const LONGEST_MARKDOWN = 50_000

/** What the run answered or reported, and why it failed. */
export function Result ({ run: { output, object, error, facts, verified } }: { run: Run }) {
  return (
    <section className='section' aria-label={say('run.result')}>
      <h2>{say('run.result')}</h2>
      {error !== undefined && <Failed error={new Error(error)} />}
      {output !== undefined && <div className='report'><Report text={output} /></div>}
      {object !== undefined && <Values value={object} />}
      {verified === false && <p className='warn'>{say('run.notVerifiedWhy')}</p>}
      {facts !== undefined && <p className='quiet'><VisibleText text={sayFacts(facts)} limit={1_000} /></p>}
      {output === undefined && object === undefined && error === undefined && <p className='quiet'>{say('run.noResult')}</p>}
    </section>
  )
}

function Report ({ text }: { text: string }) {
  if (text.length > LONGEST_MARKDOWN) return <pre><VisibleText text={text} limit={LONGEST_MARKDOWN} /></pre>
  const blocks = createReferences()(splitBlocks(text).blocks)
  const levels = headingLevels(blocks)
  return <>{blocks.map((block, at) => <BlockView key={at} block={block} levels={levels[at]} />)}</>
}
