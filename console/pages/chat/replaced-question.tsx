import { say } from '../../lib/say.ts'
import { Button } from '../../parts/button.tsx'
import { ChangeList } from '../../parts/changes/change-list.tsx'
import { ChangeRow } from '../../parts/changes/change-row.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import type { useReplaced } from './thread/use-replaced.ts'

interface Props {
  open: ReturnType<typeof useReplaced>['open']
  /** True if an edited message replaces answers; false if an answer is regenerated. */
  isEdit: boolean
  onCancel: () => void
}

/** Asks, before a message is sent, whether the file changes of the answers that it replaces are undone. */
export function ReplacedQuestion ({ open, isEdit, onCancel }: Props) {
  if (open === undefined) return null
  const { changes: { restored, restoredCount, skipped, skippedCount, notCoveredCount }, answer } = open
  return (
    <Dialog title={say('chat.replaced.title', { count: restoredCount })} isOpen onClose={onCancel}>
      <ChangeList changes={restored.map((path) => ({ path }))}>{(change) => <ChangeRow change={change} />}</ChangeList>
      {restoredCount > restored.length && <p className='quiet'>{say('chat.replaced.more', { count: restoredCount - restored.length })}</p>}
      {skippedCount > 0 && (
        <>
          <p>{say('run.wouldSkip', { count: skippedCount })}</p>
          <ChangeList changes={skipped}>{({ path, reason }) => <ChangeRow change={{ path }} note={say(`run.why.${reason}`)} />}</ChangeList>
        </>
      )}
      {notCoveredCount > 0 && <p className='quiet'>{say('run.notCovered', { count: notCoveredCount })}</p>}
      <div className='actions'>
        <Button onClick={onCancel}>{say('app.cancel')}</Button>
        <Button onClick={() => answer('keep')}>{say('chat.replaced.keep')}</Button>
        <Button kind='primary' onClick={() => answer('undo')}>
          {say(isEdit ? 'chat.replaced.undoAndEdit' : 'chat.replaced.undoAndAnswer')}
        </Button>
      </div>
    </Dialog>
  )
}
