import type { FormEvent } from 'react'
import { useDraft } from '../../lib/draft.ts'
import { say } from '../../lib/say.ts'
import { Button } from '../../parts/button.tsx'
import { Failed } from '../../parts/failed.tsx'
import { useLearn } from './facts.ts'

/** The form that adds a fact. What was typed stays until it is stored. */
export function AddFact () {
  const [text, setText] = useDraft('fact')
  const learn = useLearn()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    learn.mutate(text, { onSuccess: () => setText('') })
  }
  return (
    <form className='section' onSubmit={submit}>
      <label className='field'>
        <span>{say('memory.addLabel')}</span>
        <input
          required
          maxLength={2_000}
          value={text}
          placeholder={say('memory.addHint')}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      {learn.error !== null && <Failed error={learn.error} />}
      <div><Button kind='primary' type='submit' isBusy={learn.isPending}>{say('memory.addSubmit')}</Button></div>
    </form>
  )
}
