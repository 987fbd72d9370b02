import { useQuery } from '@tanstack/react-query'
import { Undo2 } from 'lucide-react'
import { listChanges, type ReplacedChanges } from '../../../../client/generated/index.ts'
import { keys } from '../../../lib/queries.ts'
import { say } from '../../../lib/say.ts'
import { asked, body } from '../../../lib/service.ts'
import { ChangeList } from '../../../parts/changes/change-list.tsx'
import { ChangeRow } from '../../../parts/changes/change-row.tsx'
import { Time } from '../../../parts/time.tsx'

/** Changes that are looked at. */
const PAGE = 100

/** The changes of a run to files: whether there are any, and when they were undone last. */
interface Outcome {
  hasChanges: boolean
  undone?: { at: number, isWhole: boolean }
}

async function readOutcome (runId: string): Promise<Outcome> {
  const list = (limit: number) => listChanges({ ...asked(), path: { runId }, query: { limit } }).then(body)
  const { changes: [first], followUps } = await list(1)
  const last = followUps.findLast(({ kind }) => kind === 'undo')
  if (last === undefined) return { hasChanges: first !== undefined }
  // An undo may have been undone itself.
  const { changes, nextCursor } = await list(PAGE)
  const undone = changes.filter(({ why }) => why === 'undone')
  if (undone.length === 0) return { hasChanges: true }
  return { hasChanges: true, undone: { at: last.at, isWhole: undone.length === changes.length && nextCursor === undefined } }
}

/** Reads what became of the changes of a run; without a run, nothing. */
export function useOutcome (runId: string | undefined): Outcome | undefined {
  return useQuery({
    queryKey: [...keys.changes(runId ?? ''), 'outcome'],
    queryFn: () => readOutcome(runId!),
    enabled: runId !== undefined
  }).data
}

/** Says beside an answer that what its run did to files was undone, and when. */
export function UndoneNote ({ at, isWhole }: NonNullable<Outcome['undone']>) {
  return (
    <p className='undone' role='note'>
      <Undo2 /> {say(isWhole ? 'chat.undone' : 'chat.undoneInPart')} <span className='quiet'><Time at={at} /></span>
    </p>
  )
}

/** Says what was undone before an answer, and what could not be undone. */
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
