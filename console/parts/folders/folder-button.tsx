import { FolderSearch } from 'lucide-react'
import { useState } from 'react'
import { say } from '../../lib/say.ts'
import { IconButton } from '../icon-button.tsx'
import { FolderDialog } from './folder-dialog.tsx'

interface Props {
  /** The folder to begin at; if empty, the usual folder. */
  value: string
  /** The working folder of the file tools that are to use the chosen folder. */
  cwd?: string
  onChosen: (path: string) => void
}

/** A button that opens a dialog for choosing a folder. */
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
