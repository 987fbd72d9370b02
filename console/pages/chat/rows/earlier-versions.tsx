import { History } from 'lucide-react'
import { useState } from 'react'
import { say } from '../../../lib/say.ts'
import { Button } from '../../../parts/button.tsx'
import { Dialog } from '../../../parts/dialog.tsx'
import { IconButton } from '../../../parts/icon-button.tsx'
import { Markdown } from '../../../parts/markdown/markdown.tsx'
import { VisibleText } from '../../../parts/visible-text.tsx'
import type { Version } from '../thread/versions.ts'

/** The versions of a message before it was edited or answered again, one at a time. There is nothing without one. */
export function EarlierVersions ({ versions }: { versions: Version[] }) {
  const [shown, setShown] = useState<number>()
  if (versions.length === 0) return null
  const at = Math.min(shown ?? 0, versions.length - 1)
  const label = say('chat.versions', { count: versions.length })
  return (
    <>
      <IconButton
        icon={History} label={label} className='button button-quiet button-icon row-action' onClick={() => setShown(versions.length - 1)}
      />
      <Dialog title={label} isOpen={shown !== undefined} onClose={() => setShown(undefined)}>
        <div className='version'>
          <p className='said row-text'><VisibleText text={versions[at].text} /></p>
          {versions[at].answer === '' ? <p className='quiet'>{say('chat.noAnswer')}</p> : <Markdown text={versions[at].answer} />}
        </div>
        <div className='actions'>
          <Button disabled={at === 0} onClick={() => setShown(at - 1)}>{say('chat.versionBefore')}</Button>
          <span className='version-number'>{say('chat.versionOf', { number: at + 1, count: versions.length })}</span>
          <Button disabled={at === versions.length - 1} onClick={() => setShown(at + 1)}>{say('chat.versionAfter')}</Button>
        </div>
      </Dialog>
    </>
  )
}
