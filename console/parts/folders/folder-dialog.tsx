import { lazy, Suspense } from 'react'
import { Dialog } from '../dialog.tsx'
import { Loading } from '../loading.tsx'

const FolderWalk = lazy(() => import('./folder-walk.tsx'))

interface Props {
  title: string
  help?: string
  isOpen: boolean
  /** Where it begins; the usual folder if it is empty. */
  start: string
  /** The working folder for which file tools are to use what is chosen. */
  cwd?: string
  onClose: () => void
  /** Called with the path of a folder that is there and may be used. */
  onChosen: (path: string) => void
}

/** A dialog in which one walks to a folder of the computer that the service runs on. */
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
