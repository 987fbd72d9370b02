import { memo } from 'react'
import { say } from '../../lib/say.ts'
import { CopyButton } from '../copy-button.tsx'
import { CodeText } from './code-text.tsx'
import './markdown.css'

/** Makes a code frame focusable if its content is wider, so that keys can scroll it. */
function makeReachable (frame: HTMLElement | null): void {
  if (frame !== null && frame.scrollWidth > frame.clientWidth) frame.tabIndex = 0
}

/** Lines of code, or a piece of a long code block. */
export const CodeBlock = memo(function CodeBlock ({ text, language }: { text: string, language?: string }) {
  return (
    <figure className='code-block' aria-label={language === undefined ? say('markdown.code') : say('markdown.codeIn', { language })}>
      <div className='code-block-head'><span className='quiet'>{language}</span><CopyButton text={text} /></div>
      <pre ref={makeReachable}><code><CodeText text={text} language={language} /></code></pre>
    </figure>
  )
})
