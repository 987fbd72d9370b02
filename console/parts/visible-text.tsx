import { useMemo, useState } from 'react'
import { say } from '../lib/say.ts'
import { visiblePieces } from '../lib/visible-characters.ts'
import { Button } from './button.tsx'

/** The number of characters that are shown until the user asks for all. */
const SHOWN = 4_000

interface Props {
  text: string
  /** A text longer than this, in characters, is cut, with a button that shows all of it. Infinity never cuts. */
  limit?: number
}

/**
 * An untrusted text. Characters that are invisible or that reorder the text around them are shown as ⟨U+202E⟩, so that a path, a name or a
 * command cannot deceive. The text runs from left to right and does not reorder text outside of it.
 */
export function VisibleText ({ text, limit = SHOWN }: Props) {
  const [isWhole, setIsWhole] = useState(false)
  const isCut = text.length > limit && !isWhole
  const pieces = useMemo(() => visiblePieces(isCut ? cut(text, limit) : text), [text, isCut, limit])
  return (
    <>
      <bdi dir='ltr' className='visible-text'>
        {pieces.map((piece, at) => 'text' in piece ? piece.text : <mark key={at} className='hidden-character'>⟨{piece.code}⟩</mark>)}
        {isCut && '…'}
      </bdi>
      {isCut && (
        <span className='show-all'>
          <Button kind='quiet' onClick={() => setIsWhole(true)}>{say('app.showAll', { count: text.length })}</Button>
        </span>
      )}
    </>
  )
}

/** Cuts a text, but not within a surrogate pair. */
function cut (text: string, length: number): string {
  const isWithinPair = /[\uD800-\uDBFF]/.test(text[length - 1])
  return text.slice(0, isWithinPair ? length - 1 : length)
}
