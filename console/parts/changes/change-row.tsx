import { type ReactNode, useState } from 'react'
import type { PathChange } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'
import { Button } from '../button.tsx'
import { Diff } from '../diff/diff.tsx'
import { useDiff } from '../diff/use-diff.ts'
import { VisibleText } from '../visible-text.tsx'

const SIGNS = { created: ['+', 'good'], changed: ['~', 'busy'], moved: ['→', 'calm'], deleted: ['–', 'bad'] } as const

/** A change of a path. Everything except the path can be unknown. */
export type ShownChange = Pick<PathChange, 'path'> & Partial<PathChange>

interface Props {
  change: ShownChange
  /** The checkbox that selects the change. */
  tick?: { isTicked: boolean, onTick: (isTicked: boolean) => void }
  /** The author of the change, and its time. */
  by?: ReactNode
  /** The reason why the change is left out or cannot be undone. */
  note?: string
  isOpenAtFirst?: boolean
  /** Buttons for the change. */
  children?: ReactNode
}

/** One change of a file, folder or link, made or planned: its kind, its path, notes, and its diff. */
export function ChangeRow ({ change, tick, by, note, isOpenAtFirst = false, children }: Props) {
  const [isOpen, setIsOpen] = useState(isOpenAtFirst)
  const { path, kind, from, diff } = change
  const counts = useDiff(diff)
  const line = (
    <>
      {kind !== undefined && (
        <span className={`status status-${SIGNS[kind][1]}`}>
          <span aria-hidden='true'>{SIGNS[kind][0]}</span> {say(`run.kind.${kind}`)}
        </span>
      )}
      <span className='change-path mono'>
        {from !== undefined && <><VisibleText text={from} limit={Infinity} /> → </>}<VisibleText text={path} limit={Infinity} />
      </span>
    </>
  )
  return (
    <div className='change'>
      <div className='change-line'>
        {tick === undefined && line}
        {tick !== undefined && (
          <label className='change-tick'>
            <input type='checkbox' checked={tick.isTicked} onChange={({ target }) => tick.onTick(target.checked)} />
            {line}
          </label>
        )}
        {counts !== undefined && counts.lines.length > 0 && (
          <span className='quiet change-counts'>
            <span aria-hidden='true'>+{counts.added} −{counts.removed}</span>
            <span className='visually-hidden'>{say('approval.difference', { added: counts.added, removed: counts.removed })}</span>
          </span>
        )}
        <span className='quiet change-by'>{more(change).join(' · ')}{by !== undefined && more(change).length > 0 && ' · '}{by}</span>
        {diff !== undefined && (
          <Button kind='quiet' aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
            {say(isOpen ? 'run.hideDiff' : 'run.showDiff')}
          </Button>
        )}
        {children}
      </div>
      {change.replaces && <p className='warn'>{say('changes.replaces')}</p>}
      {note !== undefined && <p className='quiet'>{note}</p>}
      {isOpen && diff !== undefined && <Diff diff={diff} />}
    </div>
  )
}

/** Returns notes about a change in addition to its path and its diff. */
function more ({ kind, what, mode, link, inner, withContents, diff }: ShownChange): string[] {
  return [
    ...what === undefined || what === 'file' ? [] : [say(`changes.what.${what}`)],
    ...link === undefined ? [] : [say('changes.leadsTo', { path: link })],
    ...mode === undefined ? [] : [say('changes.mode', { mode })],
    ...inner === undefined ? withContents ? [say('changes.withContents')] : [] : [say('run.inner', { count: inner })],
    ...kind === 'changed' && what === 'file' && mode === undefined && diff === undefined ? [say('changes.noDiff')] : []
  ]
}
