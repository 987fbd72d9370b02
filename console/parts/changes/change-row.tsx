import { useState } from 'react'
import type { FileChange } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'
import { Button } from '../button.tsx'
import { Diff } from '../diff/diff.tsx'
import { Time } from '../time.tsx'
import { ToolName } from '../tool-name.tsx'
import { VisibleText } from '../visible-text.tsx'

const SIGNS = { created: ['+', 'good'], changed: ['~', 'busy'], moved: ['→', 'calm'], deleted: ['–', 'bad'] } as const

interface Props {
  change: FileChange
  /** It was only tried, on a copy. */
  isTried?: boolean
  /** Undoes this path; absent while the run goes on. */
  onUndo?: () => void
}

/** One change of a file or folder: what happened, when, its diff, and whether it can be had back. */
export function ChangeRow ({ change: { path, kind, from, toolName, at, inner, diff, canUndo, why }, isTried = false, onUndo }: Props) {
  const [isOpen, setIsOpen] = useState(false)
  const [sign, tone] = SIGNS[kind]
  return (
    <div className='change'>
      <div className='change-line'>
        <span className={`status status-${tone}`}><span aria-hidden='true'>{sign}</span> {say(`run.kind.${kind}`)}</span>
        <span className='change-path mono'>
          {from !== undefined && <><VisibleText text={from} limit={500} /> → </>}<VisibleText text={path} limit={500} />
        </span>
        <span className='quiet'>
          {inner !== undefined && `${say('run.inner', { count: inner })} · `}<ToolName name={toolName} /> · <Time at={at} />
        </span>
        {diff !== undefined && (
          <Button kind='quiet' aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
            {say(isOpen ? 'run.hideDiff' : 'run.showDiff')}
          </Button>
        )}
        {canUndo && onUndo && <Button kind='quiet' onClick={onUndo}>{say('run.undoOne')}</Button>}
      </div>
      {why !== undefined && !isTried && <p className='quiet'>{say(`run.why.${why}`)}</p>}
      {isOpen && diff !== undefined && <Diff diff={diff} />}
    </div>
  )
}
