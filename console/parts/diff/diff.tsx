import { useMemo, useState } from 'react'
import { say } from '../../lib/say.ts'
import { Button } from '../button.tsx'
import { VisibleText } from '../visible-text.tsx'
import { parseDiff, type DiffLine } from './parse-diff.ts'
import './diff.css'

/** Lines that are drawn before the user asks for all. */
const SHOWN = 150
/** Characters of a line that are drawn before the user asks for all of it. */
const LONGEST_LINE = 1_000

const MARKS = { add: '+', remove: '-', same: ' ', gap: '' } as const

/** A unified diff, as the service makes them: what is removed and what is added by sign and colour, with line numbers. */
export function Diff ({ diff }: { diff: string }) {
  const [isWhole, setIsWhole] = useState(false)
  const { lines, note, isNew, added, removed } = useMemo(() => parseDiff(diff), [diff])
  const shown = isWhole ? lines : lines.slice(0, SHOWN)
  return (
    <figure className='diff'>
      <figcaption className='quiet'>
        {note ?? say(lines.length === 0 ? 'approval.noDifference' : isNew ? 'approval.newFile' : 'approval.difference', { added, removed })}
      </figcaption>
      {lines.length > 0 && <pre tabIndex={0}>{shown.map((line, at) => <Line key={at} {...line} />)}</pre>}
      {lines.length > shown.length && (
        <Button kind='quiet' onClick={() => setIsWhole(true)}>{say('approval.showLines', { count: lines.length })}</Button>
      )}
    </figure>
  )
}

function Line ({ kind, text, line }: DiffLine) {
  const content = (
    <>
      <span className='diff-number' aria-hidden='true'>{line}</span>
      <span>{MARKS[kind]}<VisibleText text={text} limit={LONGEST_LINE} />{'\n'}</span>
    </>
  )
  if (kind === 'add') return <ins className='diff-line diff-add'>{content}</ins>
  if (kind === 'remove') return <del className='diff-line diff-remove'>{content}</del>
  return <span className={`diff-line diff-${kind}`}>{content}</span>
}
