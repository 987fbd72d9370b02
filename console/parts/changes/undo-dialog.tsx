import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { undoRun, type Undone } from '../../../client/generated/index.ts'
import { keys } from '../../lib/queries.ts'
import { say } from '../../lib/say.ts'
import { asked, body } from '../../lib/service.ts'
import { useAnnounce } from '../announcer.tsx'
import { Button } from '../button.tsx'
import { Dialog } from '../dialog.tsx'
import { Failed } from '../failed.tsx'
import { Loaded } from '../loaded.tsx'
import { VisibleText } from '../visible-text.tsx'

/** Paths of a list that are named. */
const NAMED = 50
/** Paths that one request can name. */
const MOST_PATHS = 1000
/** The working folder with all in it. */
const ALL = ['.']

interface Props {
  runId: string
  /** Only these paths, and what is below them; default: all. */
  paths?: string[]
  onClose: () => void
  onUndone: (undone: Undone) => void
}

const sharedOf = (skipped: Undone['skipped']): string[] => skipped.filter(({ reason }) => reason === 'shared').map(({ path }) => path)

/** Names what an undo would take back, and what it takes back only by name. */
function withShared (restored: string[], skipped: Undone['skipped']): string[] {
  const all = [...restored, ...sharedOf(skipped)]
  return all.length > MOST_PATHS ? ALL : all
}

/** Shows what an undo would do now, and does it after a confirmation. */
export function UndoDialog ({ runId, paths: named, onClose, onUndone }: Props) {
  const queries = useQueryClient()
  const announce = useAnnounce()
  const [isOpen, setIsOpen] = useState(true)
  const [paths, setPaths] = useState(named)
  const plan = useQuery({
    queryKey: [...keys.changes(runId), 'dry-run', ...paths ?? []],
    queryFn: () => undoRun({ ...asked(), path: { runId }, body: { paths, dryRun: true } }).then(body),
    gcTime: 0
  })
  const undo = useMutation({
    mutationFn: () => undoRun({ ...asked(), path: { runId }, body: { paths } }).then(body),
    onSuccess (undone) {
      announce(say('run.undone', { count: undone.restored.length }))
      onUndone(undone)
      close()
      // Other runs may have changed the same files.
      void queries.invalidateQueries({ queryKey: ['changes'] })
    }
  })
  const close = () => {
    setIsOpen(false)
    onClose()
  }
  return (
    <Dialog title={say('run.undoTitle')} isOpen={isOpen} onClose={close}>
      <Loaded query={plan}>
        {({ restored, skipped, notCovered }) => (
          <>
            {restored.length > 0 ? <p>{say('run.wouldRestore', { count: restored.length })}</p> : <p>{say('run.nothingToUndo')}</p>}
            <Paths paths={restored} />
            {skipped.length > 0 && (
              <>
                <p>{say('run.wouldSkip', { count: skipped.length })}</p>
                <ul className='undo-paths'>
                  {skipped.slice(0, NAMED).map(({ path, reason }) => (
                    <li key={path}>
                      <code><VisibleText text={path} limit={500} /></code>{' '}
                      <span className='quiet'>{say(`run.why.${reason}`)}</span>
                    </li>
                  ))}
                </ul>
              </>
            )}
            {notCovered.length > 0 && <p className='quiet'>{say('run.notCovered', { count: notCovered.length })}</p>}
            {undo.isError && <Failed error={undo.error} />}
            <div className='actions'>
              <Button onClick={close}>{say('app.cancel')}</Button>
              {sharedOf(skipped).length > 0 && (
                <Button onClick={() => setPaths(withShared(restored, skipped))}>{say('run.undoShared')}</Button>
              )}
              {restored.length > 0 && (
                <Button kind='primary' isBusy={undo.isPending} onClick={() => undo.mutate()}>
                  {say('run.undoNow', { count: restored.length })}
                </Button>
              )}
            </div>
          </>
        )}
      </Loaded>
    </Dialog>
  )
}

function Paths ({ paths }: { paths: string[] }) {
  return (
    <ul className='undo-paths'>
      {paths.slice(0, NAMED).map((path) => <li key={path}><code><VisibleText text={path} limit={500} /></code></li>)}
      {paths.length > NAMED && <li className='quiet'>{say('run.morePaths', { count: paths.length - NAMED })}</li>}
    </ul>
  )
}
