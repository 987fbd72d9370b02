import type { Run } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'
import { Values } from '../../parts/call/values.tsx'
import { Markdown } from '../../parts/markdown/markdown.tsx'
import { VisibleText } from '../../parts/visible-text.tsx'

/** A longer report is shown as plain text, which can be cut. */
const LONGEST_MARKDOWN = 50_000

/** What the run answered or reported, and why it failed. */
export function Result ({ run: { output, object, error } }: { run: Run }) {
  return (
    <section className='section' aria-label={say('run.result')}>
      <h2>{say('run.result')}</h2>
      {error !== undefined && <div className='note note-bad'><VisibleText text={error} /></div>}
      {output !== undefined && <div className='report'><Report text={output} /></div>}
      {object !== undefined && <Values value={object} />}
      {output === undefined && object === undefined && error === undefined && <p className='quiet'>{say('run.noResult')}</p>}
    </section>
  )
}

const Report = ({ text }: { text: string }) =>
  text.length <= LONGEST_MARKDOWN ? <Markdown text={text} /> : <pre><VisibleText text={text} limit={LONGEST_MARKDOWN} /></pre>
