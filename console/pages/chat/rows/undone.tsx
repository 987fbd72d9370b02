import { useQuery } from '@tanstack/react-query'
import { Undo2 } from 'lucide-react'
import { listChanges, type ReplacedChanges } from '../../../../client/generated/index.ts'
import { keys } from '../../../lib/queries.ts'
import { say } from '../../../lib/say.ts'
import { asked, body } from '../../../lib/service.ts'
import { ChangeList } from '../../../parts/changes/change-list.tsx'
import { ChangeRow } from '../../../parts/changes/change-row.tsx'
import { Time } from '../../../parts/time.tsx'

/** The number of changes that are checked. */
const PAGE = 100

/** Whether a run has changed files, and when these changes were last undone. */
interface Outcome {
  hasChanges: boolean
  undone?: { at: number, isWhole: boolean }
}

async function readOutcome (runId: string): Promise<Outcome> {
  const list = (limit: number) => listChanges({ ...asked(), path: { runId }, query: { limit } }).then(body)
  const { changes: [first], followUps } = await list(1)
  const last = followUps.findLast(({ kind }) => kind === 'undo')
  if (last === undefined) return { hasChanges: first !== undefined }
  // An undo may itself have been undone, so the changes are checked again.
  const { changes, nextCursor } = await list(PAGE)
  const undone = changes.filter(({ why }) => why === 'undone')
  if (undone.length === 0) return { hasChanges: true }
  return { hasChanges: true, undone: { at: last.at, isWhole: undone.length === changes.length && nextCursor === undefined } }
}

/** Reads the outcome of a run's file changes; without a run, reads nothing. */
export function useOutcome (runId: string | undefined): Outcome | undefined {
  return useQuery({
    queryKey: [...keys.changes(runId ?? ''), 'outcome'],
    queryFn: () => readOutcome(runId!),
    enabled: runId !== undefined
  }).data
}

/** A note beside an answer that the file changes of its run were undone, with the time. */
export function UndoneNote ({ at, isWhole }: NonNullable<Outcome['undone']>) {
  return (
    <p className='undone' role='note'>
      <Undo2 /> {say(isWhole ? 'chat.undone' : 'chat.undoneInPart')} <span className='quiet'><Time at={at} /></span>
    </p>
  )
}

/** A note about changes that were undone before an answer, and those that could not be undone. */
export function UndoneBefore ({ undone: { restoredCount, skipped, skippedCount, notCoveredCount } }: { undone: ReplacedChanges }) {
  return (
    <div className={`note note-${skippedCount + notCoveredCount > 0 ? 'warn' : 'good'}`} role='status'>
      <p>
        {say('chat.replaced.done', { count: restoredCount })} {skippedCount > 0 && say('run.skipped', { count: skippedCount })}
        {skippedCount > 0 && notCoveredCount > 0 && ' '}{notCoveredCount > 0 && say('run.notCovered', { count: notCoveredCount })}
      </p>
      <ChangeList changes={skipped}>{({ path, reason }) => <ChangeRow change={{ path }} note={say(`run.why.${reason}`)} />}</ChangeList>
    </div>
  )
}
