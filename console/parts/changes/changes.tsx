import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { listChanges, type FileChange, type UncoveredCall, type Undone } from '../../../client/generated/index.ts'
import { keys } from '../../lib/queries.ts'
import { say } from '../../lib/say.ts'
import { asked, body } from '../../lib/service.ts'
import { Button } from '../button.tsx'
import { Failed } from '../failed.tsx'
import { Loading } from '../loading.tsx'
import { VirtualList } from '../virtual-list.tsx'
import { ToolName } from '../tool-name.tsx'
import { VisibleText } from '../visible-text.tsx'
import { ChangeRow } from './change-row.tsx'
import { UndoDialog } from './undo-dialog.tsx'
import './changes.css'

const PAGE = 100

/** The undo that is open in the dialog: of all paths, or of one. */
type Asked = { runId: string, paths?: string[] }

interface Props {
  runId: string
  isOver: boolean
  /** The run has only tried them on a copy. */
  isTried?: boolean
}

/** The changes of a run to files, which can be taken back once the run is over, and what an undo does not cover. */
export function Changes ({ runId, isOver, isTried = false }: Props) {
  const [undo, setUndo] = useState<Asked>()
  const [undone, setUndone] = useState<Undone>()
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: keys.changes(runId),
    queryFn: ({ pageParam }) => listChanges({ ...asked(), path: { runId }, query: { limit: PAGE, cursor: pageParam } }).then(body),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor
  })
  if (data === undefined) return error ? <Failed error={error} onRetry={() => void refetch()} /> : <Loading />
  const changes = data.pages.flatMap((page) => page.changes)
  const notCovered = data.pages[0].notCovered
  const canUndo = isOver && !isTried && changes.some((change) => change.canUndo)
  return (
    <section className='section' aria-label={say('run.changes')}>
      <header className='page-head'>
        <h2>{say('run.changes')}</h2>
        {canUndo && <Button onClick={() => setUndo({ runId })}>{say('run.undoAll')}</Button>}
      </header>
      {undone && <UndoneNote undone={undone} onTakeBack={(undoId) => setUndo({ runId: undoId })} />}
      {changes.length === 0 && <p className='quiet'>{say(isOver ? 'run.noChanges' : 'run.noChangesYet')}</p>}
      {changes.length > 0 && (
        <VirtualList<FileChange>
          items={changes}
          keyOf={(change) => `${change.toolCallId} ${change.path}`}
          label={say('run.changes')}
          onEnd={() => hasNextPage && !isFetchingNextPage && void fetchNextPage()}
        >
          {(change) => (
            <ChangeRow change={change} onUndo={isOver && !isTried ? () => setUndo({ runId, paths: [change.path] }) : undefined} />
          )}
        </VirtualList>
      )}
      {!isOver && changes.length > 0 && <p className='quiet'>{say('run.undoLater')}</p>}
      {notCovered.length > 0 && !isTried && <NotCovered calls={notCovered} />}
      {undo && <UndoDialog key={undo.runId} {...undo} onClose={() => setUndo(undefined)} onUndone={setUndone} />}
    </section>
  )
}

function UndoneNote ({ undone: { undoId, restored, skipped }, onTakeBack }: { undone: Undone, onTakeBack: (undoId: string) => void }) {
  return (
    <div className={`note note-${skipped.length > 0 ? 'warn' : 'good'}`}>
      <p>{say('run.undone', { count: restored.length })} {skipped.length > 0 && say('run.skipped', { count: skipped.length })}</p>
      {undoId !== undefined && <Button onClick={() => onTakeBack(undoId)}>{say('run.takeBack')}</Button>}
    </div>
  )
}

function NotCovered ({ calls }: { calls: UncoveredCall[] }) {
  return (
    <details>
      <summary>{say('run.notCovered', { count: calls.length })}</summary>
      <ul className='undo-paths'>
        {calls.slice(0, 100).map(({ toolCallId, toolName, target, server, app = server }) => (
          <li key={toolCallId}>
            <ToolName name={toolName} />{' '}
            {app !== undefined && <span className='quiet'><VisibleText text={app} limit={100} />{' '}</span>}
            {target !== undefined && <code><VisibleText text={target} limit={500} /></code>}
          </li>
        ))}
      </ul>
    </details>
  )
}
