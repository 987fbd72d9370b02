import { memo, useState } from 'react'
import { say } from '../../lib/say.ts'
import { Button } from '../button.tsx'
import { Loading } from '../loading.tsx'
import { VisibleText } from '../visible-text.tsx'
import type { DiffLine } from './parse-diff.ts'
import { useDiff } from './use-diff.ts'
import './diff.css'

/** The number of lines that are shown until the user asks for all. */
const SHOWN = 150
/** The number of characters of a line that are shown until the user asks for the whole line. */
const LONGEST_LINE = 1_000

const MARKS = { add: '+', remove: '-', same: ' ', gap: '', noLineEnd: '' } as const

/** A unified diff in the service's format. Removed and added lines have a sign, a colour and line numbers. */
export function Diff ({ diff }: { diff: string }) {
  const [isWhole, setIsWhole] = useState(false)
  const parsed = useDiff(diff)
  if (parsed === undefined) return <Loading />
  const { lines, note, isNew, added, removed } = parsed
  const shown = isWhole ? lines : lines.slice(0, SHOWN)
  return (
    <figure className='diff'>
      <figcaption className={note === undefined && lines.length > 0 ? 'quiet diff-counts' : 'quiet'}>
        {note ?? say(lines.length === 0 ? 'approval.noDifference' : isNew ? 'approval.newFile' : 'approval.difference', { added, removed })}
      </figcaption>
      {lines.length > 0 && <pre tabIndex={0}>{shown.map((line, at) => <Line key={at} {...line} />)}</pre>}
      {lines.length > shown.length && (
        <Button kind='quiet' onClick={() => setIsWhole(true)}>{say('approval.showLines', { count: lines.length })}</Button>
      )}
    </figure>
  )
}

const Line = memo(function Line ({ kind, text, line, pieces }: DiffLine) {
  const content = (
    <>
      <span className='diff-number' aria-hidden='true'>{line}</span>
      <span>
        <span className='diff-sign'>{MARKS[kind]}</span>
        {kind === 'noLineEnd' ? say('approval.noLineEnd') : pieces === undefined ? <VisibleText text={text} limit={LONGEST_LINE} /> : null}
        {pieces?.map((piece, at) => piece.isMarked
          ? <mark key={at} className='diff-word'><VisibleText text={piece.text} /></mark>
          : <VisibleText key={at} text={piece.text} />)}
        {'\n'}
      </span>
    </>
  )
  if (kind === 'add') return <ins className='diff-line diff-add'>{content}</ins>
  if (kind === 'remove') return <del className='diff-line diff-remove'>{content}</del>
  return <span className={kind === 'same' ? 'diff-line' : 'diff-line diff-gap'}>{content}</span>
})
