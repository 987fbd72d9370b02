import { CodeBlock } from './code-block.tsx'
import { Footnotes, Mentioning } from './footnotes.tsx'
import { Markdown } from './markdown.tsx'
import type { ResolvedBlock } from './references.ts'

const draw = (text: string) => <Markdown text={text} />

/** A block of a Markdown text. `levels` are the levels of its headings. */
export function BlockView ({ block, levels }: { block: ResolvedBlock, levels: string }) {
  if (block.kind === 'notes') return <Footnotes notes={block.notes} draw={draw} />
  if (block.kind === 'code') return <CodeBlock text={block.text} language={block.language} />
  if (block.notes === undefined) return <Markdown text={block.text} levels={levels} />
  return <Mentioning notes={block.notes} draw={draw}><Markdown text={block.text} levels={levels} /></Mentioning>
}
