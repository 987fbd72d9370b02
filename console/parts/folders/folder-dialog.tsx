import { lazy, Suspense } from 'react'
import { Dialog } from '../dialog.tsx'
import { Loading } from '../loading.tsx'

const FolderWalk = lazy(() => import('./folder-walk.tsx'))

interface Props {
  title: string
  help?: string
  isOpen: boolean
  /** The folder to begin at; if empty, the usual folder. */
  start: string
  /** The working folder of the file tools that are to use the chosen folder. */
  cwd?: string
  onClose: () => void
  /** Called with the path of a folder that exists and can be used. */
  onChosen: (path: string) => void
}

/** A dialog for choosing a folder of the computer on which the service runs. */
export function FolderDialog ({ title, help, isOpen, start, cwd, onClose, onChosen }: Props) {
  return (
    <Dialog title={title} isOpen={isOpen} onClose={onClose}>
      {help !== undefined && <p className='quiet'>{help}</p>}
      <Suspense fallback={<Loading />}>
        <FolderWalk
          start={start.trim()} cwd={cwd} onClose={onClose}
          onChosen={(path) => {
            onClose()
            onChosen(path)
          }}
        />
      </Suspense>
    </Dialog>
  )
}
