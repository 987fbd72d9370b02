import { FolderSearch } from 'lucide-react'
import { useState } from 'react'
import { say } from '../../lib/say.ts'
import { IconButton } from '../icon-button.tsx'
import { FolderDialog } from './folder-dialog.tsx'

interface Props {
  /** Where it begins; the usual folder if it is empty. */
  value: string
  /** The working folder for which file tools are to use what is chosen. */
  cwd?: string
  onChosen: (path: string) => void
}

/** Opens a dialog in which one walks to a folder. */
export function FolderButton ({ value, cwd, onChosen }: Props) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <>
      <IconButton icon={FolderSearch} kind='normal' label={say('folders.browse')} onClick={() => setIsOpen(true)} />
      <FolderDialog
        title={say('folders.title')} isOpen={isOpen} start={value} cwd={cwd} onClose={() => setIsOpen(false)} onChosen={onChosen}
      />
    </>
  )
}
