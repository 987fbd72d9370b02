import { useQuery } from '@tanstack/react-query'
import { Folder } from 'lucide-react'
import { useState } from 'react'
import { about } from '../../../../client/generated/index.ts'
import { lastPart } from '../../../lib/last-part.ts'
import { keys } from '../../../lib/queries.ts'
import { say } from '../../../lib/say.ts'
import { asked, body } from '../../../lib/service.ts'
import { Button } from '../../../parts/button.tsx'
import { FolderDialog } from '../../../parts/folders/folder-dialog.tsx'
import { VisibleText } from '../../../parts/visible-text.tsx'

/** Chooses the working folder of a conversation; '' is the service's default. */
export function FolderChoice ({ cwd, onChange }: { cwd: string, onChange: (cwd: string) => void }) {
  const [isOpen, setIsOpen] = useState(false)
  const { data } = useQuery({ queryKey: [...keys.health(), 'about'], queryFn: () => about(asked()).then(body) })
  const usual = data?.workspace ?? ''
  const shown = cwd || usual
  const choose = (path: string) => {
    const next = path === usual ? '' : path
    if (next !== cwd) onChange(next)
  }
  return (
    <>
      <Button
        kind='quiet' className='button button-quiet composer-folder' title={shown} aria-label={say('chat.folderOf', { folder: shown })}
        onClick={() => setIsOpen(true)}
      >
        <Folder /> <span><VisibleText text={lastPart(shown).slice(0, 40)} limit={Infinity} /></span>
      </Button>
      <FolderDialog
        title={say('chat.folderTitle')} help={say('chat.folderHelp')} isOpen={isOpen} start={cwd} onClose={() => setIsOpen(false)}
        onChosen={choose}
      />
    </>
  )
}
