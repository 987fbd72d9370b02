import { memo, type ReactNode } from 'react'
import ReactMarkdown, { type Components, type ExtraProps } from 'react-markdown'
import remarkGfm from 'remark-gfm'
import { say } from '../../lib/say.ts'
import { VisibleText } from '../visible-text.tsx'
import { Mention } from './footnotes.tsx'
import { Formula } from './formula.tsx'
import { USUAL_LEVELS } from './heading-levels.ts'
import { formulaOf, markFormulas } from './maths.ts'
import './markdown.css'

const PLUGINS = [remarkGfm]

/** Only these URLs become links, and they leave the page only if the user follows them. */
const isOutside = (url: string) => /^(https?:\/\/|mailto:)/i.test(url)
/** The prefix of the URL of a footnote, which is followed by its label. */
const FOOTNOTE = '#user-content-fn-'
const urlTransform = (url: string) => isOutside(url) || url.startsWith(FOOTNOTE) ? url : ''

function OutsideLink ({ href, children }: { href?: string, children?: ReactNode }) {
  if (!href || !isOutside(href)) return <>{children}</>
  return <a href={href} title={href} target='_blank' rel='noreferrer noopener nofollow'>{children}</a>
}

function Anchor ({ href, node, children }: { href?: string, children?: ReactNode } & ExtraProps) {
  if (node?.properties.dataFootnoteRef === undefined) return <OutsideLink href={href}>{children}</OutsideLink>
  return <Mention label={decodeURIComponent(href!.slice(FOOTNOTE.length))} />
}

function Code ({ text }: { text: string }) {
  const formula = formulaOf(text)
  return formula ? <Formula {...formula} /> : <code><VisibleText text={text} limit={Infinity} /></code>
}

const COMPONENTS: Components = {
  a: Anchor,
  sup: ({ children }) => <>{children}</>,
  // Footnotes are rendered after the last block of the text.
  section: () => null,
  img: ({ src, alt }) => (
    <OutsideLink href={typeof src === 'string' ? src : undefined}>{say('markdown.image', { text: alt || String(src ?? '') })}</OutsideLink>
  ),
  input: ({ checked }) => <span role='img' aria-label={say(checked ? 'markdown.done' : 'markdown.open')}>{checked ? '☑' : '☐'}</span>,
  code: ({ children }) => typeof children === 'string' ? <Code text={children} /> : <code>{children}</code>,
  table: ({ children }) => (
    <div className='markdown-table' role='region' aria-label={say('markdown.table')} tabIndex={0}><table>{children}</table></div>
  )
}

/** A line that reads the same as Markdown and as plain text: without marks, and not the beginning of a list or a heading. */
const PLAIN_LINE = /^[\p{L}"'“‘(][^\\`*_[\]<>|~&@/]*$/u

/** Returns true if a text is a plain paragraph, as most blocks are. Parsing Markdown takes much longer than this check. */
const isPlain = (text: string) => !/ {2}\n|www\./i.test(text) && text.split('\n').every((line) => PLAIN_LINE.test(line))

const known = new Map<string, Components>()
/** Returns the components for a text whose headings are drawn at these levels. */
function componentsOf (levels: string): Components {
  const components = known.get(levels) ?? Object.assign({ ...COMPONENTS }, ...[...levels].map((level, at) => {
    const Heading = `h${level}` as 'h3'
    return { [`h${at + 1}`]: ({ children }: { children?: ReactNode }) => <Heading>{children}</Heading> }
  }))
  known.set(levels, components)
  return components
}

/**
 * An untrusted Markdown text: without raw HTML, without images from elsewhere, and with links only to web and mail addresses. It is
 * rendered again only when it changes. For `levels`, see `headingLevels`.
 */
export const Markdown = memo(function Markdown ({ text, levels = USUAL_LEVELS }: { text: string, levels?: string }) {
  const paragraph = text.trim()
  const marked = markFormulas(text)
  if (marked === text && isPlain(paragraph)) return <div className='markdown' dir='auto'><p>{paragraph}</p></div>
  return (
    <div className='markdown' dir='auto'>
      <ReactMarkdown remarkPlugins={PLUGINS} components={componentsOf(levels)} urlTransform={urlTransform}>{marked}</ReactMarkdown>
    </div>
  )
})
