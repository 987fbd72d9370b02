import { type ReactNode, useState } from 'react'
import { say } from '../../lib/say.ts'
import { Button } from '../button.tsx'
import type { ShownChange } from './change-row.tsx'
import './changes.css'

/** The number of changes that are shown until the user asks for all. */
const SHOWN = 50

/** A list of changes. At first, only its beginning is shown. */
export function ChangeList<C extends ShownChange> (
  { changes, children: row }: { changes: readonly C[], children: (change: C) => ReactNode }
) {
  const [isWhole, setIsWhole] = useState(false)
  const shown = isWhole ? changes : changes.slice(0, SHOWN)
  return (
    <>
      <ul className='change-list'>{shown.map((change) => <li key={`${change.from ?? ''} ${change.path}`}>{row(change)}</li>)}</ul>
      {shown.length < changes.length && (
        <Button kind='quiet' onClick={() => setIsWhole(true)}>{say('changes.showAll', { count: changes.length })}</Button>
      )}
    </>
  )
}
