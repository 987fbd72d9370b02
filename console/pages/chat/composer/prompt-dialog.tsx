import { useState, type FormEvent } from 'react'
import type { Prompt } from '../../../../client/generated/index.ts'
import { say } from '../../../lib/say.ts'
import { Button } from '../../../parts/button.tsx'
import { Dialog } from '../../../parts/dialog.tsx'
import { Field } from '../../../parts/field.tsx'
import { VisibleText } from '../../../parts/visible-text.tsx'

interface Props {
  /** The prompt whose arguments the dialog asks for; undefined if the dialog is closed. */
  prompt?: Prompt
  onClose: () => void
  onGiven: (prompt: Prompt, given: Record<string, string>) => void
}

/** Asks for the arguments of a prompt. */
export function PromptDialog ({ prompt, onClose, onGiven }: Props) {
  return (
    <Dialog title={prompt?.title ?? prompt?.name ?? ''} isOpen={prompt !== undefined} onClose={onClose}>
      {prompt !== undefined && <Arguments prompt={prompt} onGiven={onGiven} />}
    </Dialog>
  )
}

function Arguments ({ prompt, onGiven }: { prompt: Prompt, onGiven: Props['onGiven'] }) {
  const [values, setValues] = useState<Record<string, string>>({})
  const submit = (event: FormEvent) => {
    event.preventDefault()
    // In React's tree the dialog lies within the form of the message, which must not be submitted.
    event.stopPropagation()
    onGiven(prompt, Object.fromEntries(Object.entries(values).filter(([, value]) => value !== '')))
  }
  return (
    <form className='section' onSubmit={submit}>
      <p className='quiet'>
        {prompt.description !== undefined && <><VisibleText text={prompt.description} />{' '}</>}
        {say('chat.promptOf', { server: prompt.server })}
      </p>
      {prompt.arguments.map(({ name, title, description, required }) => (
        <Field key={name} label={required ? title ?? name : say('chat.argumentOptional', { name: title ?? name })} hint={description}>
          {(help) => (
            <textarea
              {...help} rows={1} required={required === true} maxLength={100_000} value={values[name] ?? ''} className='argument'
              onChange={({ target: { value } }) => setValues((all) => ({ ...all, [name]: value }))}
              onKeyDown={(event) => {
                if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
                event.preventDefault()
                event.currentTarget.form?.requestSubmit()
              }}
            />
          )}
        </Field>
      ))}
      <div className='actions'><Button kind='primary' type='submit'>{say('chat.promptUse')}</Button></div>
    </form>
  )
}
