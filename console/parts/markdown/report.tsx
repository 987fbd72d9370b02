import { BlockView } from './block-view.tsx'
import { headingLevels } from './heading-levels.ts'
import { createReferences } from './references.ts'
import { splitBlocks } from './split-blocks.ts'
import { VisibleText } from '../visible-text.tsx'

/** A report longer than this, in characters, is shown as plain text, which can be cut. */
const LONGEST_MARKDOWN = 50_000

/** The Markdown report of a run. */
export default function Report ({ text }: { text: string }) {
  if (text.length > LONGEST_MARKDOWN) return <pre><VisibleText text={text} limit={LONGEST_MARKDOWN} /></pre>
  const blocks = createReferences()(splitBlocks(text).blocks)
  const levels = headingLevels(blocks)
  return <>{blocks.map((block, at) => <BlockView key={at} block={block} levels={levels[at]} />)}</>
}
