import { FolderSearch } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { say } from '../../lib/say.ts'
import { Dialog } from '../dialog.tsx'
import { IconButton } from '../icon-button.tsx'
import { Loading } from '../loading.tsx'

const FolderWalk = lazy(() => import('./folder-walk.tsx'))

interface Props {
  /** Where it begins; the usual folder if it is empty. */
  value: string
  /** The working folder for which file tools are to use what is chosen. */
  cwd?: string
  /** Called with the path of a folder that is there and may be used. */
  onChosen: (path: string) => void
}

/** Opens a dialog in which one walks to a folder of the computer that the service runs on. */
export function FolderButton ({ value, cwd, onChosen }: Props) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <>
      <IconButton icon={FolderSearch} kind='normal' label={say('folders.browse')} onClick={() => setIsOpen(true)} />
      <Dialog title={say('folders.title')} isOpen={isOpen} onClose={() => setIsOpen(false)}>
        <Suspense fallback={<Loading />}>
          <FolderWalk
            start={value.trim()} cwd={cwd}
            onClose={() => setIsOpen(false)}
            onChosen={(path) => {
              setIsOpen(false)
              onChosen(path)
            }}
          />
        </Suspense>
      </Dialog>
    </>
  )
}
