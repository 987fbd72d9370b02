import { useState } from 'react'
import { say } from '../../lib/say.ts'
import { Button } from '../button.tsx'
import { VisibleText } from '../visible-text.tsx'

/** Lines that are shown until the user asks for all. */
const SHOWN = 120
/** Lines of a diff that are drawn at most. */
const DRAWN = 2_000
const KINDS: Record<string, string> = { '+': 'add', '-': 'remove', '@': 'place' }

/** A unified diff, as the service made it. Added and removed lines have their sign and a colour. */
export function UnifiedDiff ({ diff }: { diff: string }) {
  const [isWhole, setIsWhole] = useState(false)
  // The lines that name the file are said above the diff.
  const lines = diff.replace(/^--- .*\n\+\+\+ .*\n/, '').replace(/\n$/, '').split('\n')
  const shown = lines.slice(0, isWhole ? DRAWN : SHOWN)
  return (
    <div className='diff'>
      <pre>
        {shown.map((line, at) => (
          <span key={at} className={`diff-${KINDS[line[0]] ?? 'same'}`}><VisibleText text={line} limit={1_000} />{'\n'}</span>
        ))}
      </pre>
      {lines.length > shown.length && (isWhole
        ? <p className='quiet'>{say('run.diffCut', { count: lines.length - shown.length })}</p>
        : <Button kind='quiet' onClick={() => setIsWhole(true)}>{say('run.diffAll', { count: lines.length })}</Button>)}
    </div>
  )
}
