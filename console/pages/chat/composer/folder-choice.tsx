import { useQuery } from '@tanstack/react-query'
import { Folder } from 'lucide-react'
import { useState, type FormEvent } from 'react'
import { about } from '../../../../client/generated/index.ts'
import { keys } from '../../../lib/queries.ts'
import { say } from '../../../lib/say.ts'
import { asked, body } from '../../../lib/service.ts'
import { Button } from '../../../parts/button.tsx'
import { Dialog } from '../../../parts/dialog.tsx'
import { FolderField } from '../../../parts/folders/folder-field.tsx'
import { VisibleText } from '../../../parts/visible-text.tsx'

const lastPart = (path: string) => path.replace(/[/\\]+$/, '').split(/[/\\]/).at(-1) || path

/** Chooses the folder in which the agent works for a conversation; empty is that of the service. */
export function FolderChoice ({ cwd, onChange }: { cwd: string, onChange: (cwd: string) => void }) {
  const [isOpen, setIsOpen] = useState(false)
  const { data } = useQuery({ queryKey: [...keys.health(), 'about'], queryFn: () => about(asked()).then(body) })
  const usual = data?.workspace ?? ''
  const shown = cwd || usual
  return (
    <>
      <Button
        kind='quiet' className='button button-quiet composer-folder' title={shown} aria-label={say('chat.folderOf', { folder: shown })}
        onClick={() => setIsOpen(true)}
      >
        <Folder /> <span><VisibleText text={lastPart(shown).slice(0, 40)} limit={Infinity} /></span>
      </Button>
      <Dialog title={say('chat.folderTitle')} isOpen={isOpen} onClose={() => setIsOpen(false)}>
        <FolderForm
          cwd={cwd} usual={usual}
          onChosen={(next) => {
            if (next !== cwd) onChange(next)
            setIsOpen(false)
          }}
        />
      </Dialog>
    </>
  )
}

function FolderForm ({ cwd, usual, onChosen }: { cwd: string, usual: string, onChosen: (cwd: string) => void }) {
  const [typed, setTyped] = useState(cwd)
  const choose = (event: FormEvent) => {
    event.preventDefault()
    onChosen(typed.trim())
  }
  return (
    <form className='section' onSubmit={choose}>
      <FolderField label={say('chat.folder')} value={typed} placeholder={usual} onChange={setTyped} />
      <p className='quiet'>{say('chat.folderHelp')}</p>
      <div className='actions'>
        <Button type='submit' kind='primary'>{say('chat.folderUse')}</Button>
        {cwd !== '' && <Button onClick={() => onChosen('')}>{say('chat.folderUsual')}</Button>}
      </div>
    </form>
  )
}
