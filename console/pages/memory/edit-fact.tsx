import { useState, type FormEvent } from 'react'
import type { KnownFact } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Failed } from '../../parts/failed.tsx'
import { useFactChange } from './facts.ts'

/** The dialog in which the words of an entry are changed. */
export function EditFact ({ fact, onClose }: { fact: KnownFact, onClose: () => void }) {
  const [text, setText] = useState(fact.fact)
  const change = useFactChange()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    change.mutate({ id: fact.id, change: { fact: text } }, { onSuccess: onClose })
  }
  return (
    <Dialog title={say('memory.editTitle')} isOpen onClose={onClose}>
      <form className='section' onSubmit={submit}>
        <label className='field'>
          <span>{say('memory.addLabel')}</span>
          <textarea
            rows={3} required value={text} onChange={(event) => setText(event.target.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
              event.preventDefault()
              event.currentTarget.form?.requestSubmit()
            }}
          />
        </label>
        {change.error !== null && <Failed error={change.error} />}
        <div className='actions'>
          <Button onClick={onClose}>{say('app.cancel')}</Button>
          <Button kind='primary' type='submit' isBusy={change.isPending}>{say('memory.save')}</Button>
        </div>
      </form>
    </Dialog>
  )
}
