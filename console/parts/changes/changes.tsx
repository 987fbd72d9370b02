import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { getRun, listChanges, type FileChange, type UncoveredCall } from '../../../client/generated/index.ts'
import { keys } from '../../lib/queries.ts'
import { say } from '../../lib/say.ts'
import { asked, body } from '../../lib/service.ts'
import { Button } from '../button.tsx'
import { Failed } from '../failed.tsx'
import { Loading } from '../loading.tsx'
import { VirtualList } from '../virtual-list.tsx'
import { Time } from '../time.tsx'
import { ToolName } from '../tool-name.tsx'
import { VisibleText } from '../visible-text.tsx'
import { ChangeRow } from './change-row.tsx'
import { FollowUps } from './follow-ups.tsx'
import { type Done, PlanDialog, type Verb } from './plan-dialog.tsx'
import './changes.css'

const PAGE = 100

/** The open dialog: an undo or an apply, of all paths or of one. */
type Asked = { verb: Verb, runId: string, paths?: string[] }

interface Props {
  runId: string
  isOver: boolean
}

/**
 * The file changes of a run, and the effects that an undo does not cover. The changes can be undone once the run has ended. Changes in a
 * copy can be applied to the run's folder. A rehearsal only tried its changes.
 */
export function Changes ({ runId, isOver }: Props) {
  const [open, setOpen] = useState<Asked>()
  const [done, setDone] = useState<Done & { verb: Verb }>()
  const run = useQuery({ queryKey: keys.run(runId), queryFn: () => getRun({ ...asked(), path: { runId } }).then(body) })
  const isTried = run.data?.trigger === 'rehearsal'
  const isOnCopy = !isTried && run.data?.options?.workspace === 'copy'
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: keys.changes(runId),
    queryFn: ({ pageParam }) => listChanges({ ...asked(), path: { runId }, query: { limit: PAGE, cursor: pageParam } }).then(body),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor
  })
  if (data === undefined || run.isPending) return error ? <Failed error={error} onRetry={() => void refetch()} /> : <Loading />
  const changes = data.pages.flatMap((page) => page.changes)
  const notCovered = data.pages[0].notCovered
  const canUndo = isOver && !isTried && changes.some((change) => change.canUndo)
  return (
    <section className='section' aria-label={say('run.changes')}>
      <header className='page-head'>
        <h2>{say('run.changes')}</h2>
        <div className='actions'>
          {canUndo && <Button onClick={() => setOpen({ verb: 'undo', runId })}>{say('run.undoAll')}</Button>}
          {isOver && isOnCopy && (
            <Button kind='primary' onClick={() => setOpen({ verb: 'apply', runId })}>{say('changes.apply.all')}</Button>
          )}
        </div>
      </header>
      {isOnCopy && <p className='quiet'>{say('changes.onCopy')}</p>}
      {isTried && changes.length > 0 && <p className='quiet'>{say('changes.tried')}</p>}
      {done && <DoneNote done={done} onTakeBack={(undoId) => setOpen({ verb: 'undo', runId: undoId })} />}
      {changes.length === 0 && <p className='quiet'>{say(isOver ? 'run.noChanges' : 'run.noChangesYet')}</p>}
      {changes.length > 0 && (
        <VirtualList<FileChange>
          items={changes}
          keyOf={(change) => `${change.toolCallId} ${change.path}`}
          label={say('run.changes')}
          onEnd={() => hasNextPage && !isFetchingNextPage && void fetchNextPage()}
        >
          {(change) => (
            <ChangeRow
              change={change}
              by={<><ToolName name={change.toolName} /> · <Time at={change.at} /></>}
              note={change.why === undefined || isTried ? undefined : say(`run.why.${change.why}`)}
            >
              {change.canUndo && isOver && !isTried && (
                <Button kind='quiet' onClick={() => setOpen({ verb: 'undo', runId, paths: [change.path] })}>{say('run.undoOne')}</Button>
              )}
            </ChangeRow>
          )}
        </VirtualList>
      )}
      {!isOver && changes.length > 0 && <p className='quiet'>{say('run.undoLater')}</p>}
      <FollowUps
        works={data.pages[0].followUps}
        onApply={isOver && isOnCopy ? () => setOpen({ verb: 'apply', runId }) : undefined}
        onTakeBack={(id) => setOpen({ verb: 'undo', runId: id })}
      />
      {notCovered.length > 0 && !isTried && <NotCovered calls={notCovered} />}
      {open && (
        <PlanDialog
          key={`${open.verb} ${open.runId}`} {...open}
          onClose={() => setOpen(undefined)} onDone={(what) => setDone({ ...what, verb: open.verb })}
        />
      )}
    </section>
  )
}

interface NoteProps {
  done: Done & { verb: Verb }
  onTakeBack: (undoId: string) => void
}

/** A note about the result of an undo or an apply, with a button that takes it back. */
export function DoneNote ({ done: { verb, undoId, done, skipped }, onTakeBack }: NoteProps) {
  return (
    <div className={`note note-${skipped.length > 0 ? 'warn' : 'good'}`}>
      <p>{say(`changes.${verb}.done`, { count: done.length })} {skipped.length > 0 && say('run.skipped', { count: skipped.length })}</p>
      {undoId !== undefined && <Button onClick={() => onTakeBack(undoId)}>{say(`changes.${verb}.takeBack`)}</Button>}
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
