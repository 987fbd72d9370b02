import { Pencil, Pin, PinOff, Star, StarOff, Trash2 } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { Link } from 'wouter'
import type { FactChange, KnownFact } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Failed } from '../../parts/failed.tsx'
import { IconButton } from '../../parts/icon-button.tsx'
import { Time } from '../../parts/time.tsx'
import { VisibleText } from '../../parts/visible-text.tsx'
import { useFactChange, useForget } from './facts.ts'

/** An entry of the memory: its text, the words from which it was learned, and its buttons. */
export function FactRow ({ fact }: { fact: KnownFact }) {
  const [isEditing, setIsEditing] = useState(false)
  const change = useFactChange()
  const forget = useForget()
  const apply = (to: FactChange) => change.mutate({ id: fact.id, change: to })
  return (
    <li className='fact'>
      <div className='fact-text'>
        <p>
          {fact.pinned && <span className='tag'>{say('memory.pinned')}</span>}{' '}
          {fact.important && <span className='tag'>{say('memory.important')}</span>} <VisibleText text={fact.fact} />
        </p>
        <Source fact={fact} />
        {change.error !== null && <Failed error={change.error} />}
      </div>
      <div className='actions' role='group' aria-label={say('memory.actionsOf', { text: fact.fact })}>
        {fact.state === 'proposed' && (
          <Button kind='primary' isBusy={change.isPending} onClick={() => apply({ state: 'known' })}>{say('memory.accept')}</Button>
        )}
        {fact.state === 'replaced' && <Button onClick={() => apply({ state: 'known' })}>{say('memory.restore')}</Button>}
        {fact.state === 'known' && fact.kind !== 'pattern' && (
          <>
            <IconButton
              icon={fact.pinned ? PinOff : Pin} label={say(fact.pinned ? 'memory.unpin' : 'memory.pin')}
              onClick={() => apply({ pinned: !fact.pinned })}
            />
            <IconButton
              icon={fact.important ? StarOff : Star} label={say(fact.important ? 'memory.markOrdinary' : 'memory.markImportant')}
              onClick={() => apply({ important: !fact.important })}
            />
          </>
        )}
        {fact.state !== 'replaced' && fact.kind !== 'pattern' && (
          <IconButton icon={Pencil} label={say('memory.edit')} onClick={() => setIsEditing(true)} />
        )}
        <Confirm
          kind='quiet'
          icon={fact.state === 'proposed' ? undefined : Trash2}
          label={say(fact.state === 'proposed' ? 'memory.dismiss' : 'memory.forget')}
          title={say('memory.forgetTitle')}
          text={say('memory.forgetText', { text: fact.fact })}
          action={say('memory.forget')}
          onConfirm={() => forget.mutateAsync(fact.id)}
        />
      </div>
      {isEditing && <EditFact fact={fact} onClose={() => setIsEditing(false)} />}
    </li>
  )
}

/** The source of an entry. */
function Source ({ fact }: { fact: KnownFact }) {
  const { source, evidence, supersedes, retracts, state, createdAt } = fact
  return (
    <p className='quiet'>
      {source !== undefined && (
        <>
          <VisibleText text={say('memory.from', { words: source.span })} />{' '}
          <Link href={`/chat/${encodeURIComponent(source.threadId)}`}>{say('memory.fromThread')}</Link>
        </>
      )}
      {evidence !== undefined && say('memory.evidence', { count: evidence.length })}
      {source === undefined && evidence === undefined && say('memory.byHand')}
      {' · '}<Time at={createdAt} />
      {state === 'proposed' && retracts && ` · ${say('memory.retracts')}`}
      {state === 'proposed' && !retracts && supersedes !== undefined && ` · ${say('memory.wouldReplace')}`}
    </p>
  )
}

/** The dialog that edits the text of an entry. */
function EditFact ({ fact, onClose }: { fact: KnownFact, onClose: () => void }) {
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
