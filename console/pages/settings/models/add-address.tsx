import { useState, type FormEvent } from 'react'
import { plainWords } from '../../../lib/plain-words.ts'
import { say } from '../../../lib/say.ts'
import { useSession } from '../../../lib/session.ts'
import { sayDuration } from '../../../lib/time.ts'
import { useAnnounce } from '../../../parts/announcer.tsx'
import { Button } from '../../../parts/button.tsx'
import { Dialog } from '../../../parts/dialog.tsx'
import { Failed } from '../../../parts/failed.tsx'
import { Field } from '../../../parts/field.tsx'
import { useAddressStore, useAddressTest } from '../../../parts/models/model-queries.ts'
import { nameOf, readAddress } from '../../../parts/models/read-address.ts'
import { VisibleText } from '../../../parts/visible-text.tsx'

/** Connects a server with OpenAI's API at any address. A page can add an address only if the service has a token. */
export function AddAddress ({ names }: { names: string[] }) {
  const [isOpen, setIsOpen] = useState(false)
  if (useSession().token === undefined) return <p className='quiet'>{say('address.noToken')}</p>
  return (
    <>
      <div><Button onClick={() => setIsOpen(true)}>{say('address.add')}</Button></div>
      {isOpen && <AddressDialog names={names} onClose={() => setIsOpen(false)} />}
    </>
  )
}

const NOTHING = { address: '', name: '', key: '', model: '' }

/** The values of the form, the errors in them, and the attributes of its fields. */
function useAddressForm (names: string[], isBusy: boolean, onChange: () => void) {
  // During a test, the new address is in the configuration, so the names from before are used.
  const [taken] = useState(() => new Set(names))
  const [values, setValues] = useState(NOTHING)
  const baseURL = readAddress(values.address)
  const suggested = baseURL === undefined ? '' : nameOf(baseURL)
  const name = values.name.trim() || suggested
  return {
    suggested,
    entered: { name, baseURL: baseURL ?? '', key: values.key.trim(), model: values.model.trim() },
    problem: values.address.trim() !== '' && baseURL === undefined
      ? say('address.unreadable')
      : taken.has(name) ? say('address.taken', { name }) : undefined,
    field: (key: keyof typeof NOTHING) => ({
      value: values[key],
      readOnly: isBusy,
      autoComplete: 'off',
      onChange ({ target }: { target: { value: string } }) {
        setValues({ ...values, [key]: target.value })
        onChange()
      }
    })
  }
}

/**
 * Asks for an address and its key. Both are tested without being stored, and are stored when the user confirms. The page never shows the
 * key.
 */
function AddressDialog ({ names, onClose }: { names: string[], onClose: () => void }) {
  const test = useAddressTest()
  const store = useAddressStore()
  const announce = useAnnounce()
  const isBusy = test.isPending || store.isPending
  const { suggested, entered, problem, field } = useAddressForm(names, isBusy, () => {
    test.reset()
    store.reset()
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isBusy || problem !== undefined) return
    store.mutate({ ...entered, tested: test.data?.ok ? test.data.model : undefined }, {
      onSuccess () {
        announce(say('address.saved', { name: entered.name }))
        onClose()
      }
    })
  }
  return (
    <Dialog title={say('address.title')} isOpen onClose={onClose}>
      <form className='section' onSubmit={submit}>
        <Field label={say('address.address')} hint={say('address.addressHint')}>
          {(help) => <input {...help} {...field('address')} required maxLength={2_000} inputMode='url' spellCheck={false} />}
        </Field>
        <Field label={say('address.name')} hint={say('settings.serverNameHint')}>
          {(help) => <input {...help} {...field('name')} maxLength={64} pattern='[A-Za-z0-9._\-]+' placeholder={suggested} />}
        </Field>
        <Field label={say('address.key')} hint={say('address.keyHint')}>
          {(help) => <input {...help} {...field('key')} type='password' maxLength={1_000} />}
        </Field>
        <Field label={say('address.model')} hint={say('address.modelHint')}>
          {(help) => <input {...help} {...field('model')} maxLength={150} spellCheck={false} />}
        </Field>
        {problem !== undefined && <p className='note note-bad' role='alert'>{problem}</p>}
        <div role='status'>{test.data !== undefined && <Tested {...test.data} />}</div>
        {(test.error ?? store.error) !== null && <Failed error={test.error ?? store.error} />}
        <div className='actions'>
          <Button onClick={onClose}>{say('app.cancel')}</Button>
          <Button
            isBusy={isBusy}
            onClick={({ currentTarget }) => currentTarget.form?.reportValidity() && problem === undefined && test.mutate(entered)}
          >
            {say(test.isPending ? 'address.trying' : 'address.try')}
          </Button>
          <Button kind='primary' type='submit' isBusy={isBusy}>{say('settings.save')}</Button>
        </div>
      </form>
    </Dialog>
  )
}

/** The result of the test, with the server's own error message. */
function Tested ({ ok, model, latencyMs, error = '', said: words }: NonNullable<ReturnType<typeof useAddressTest>['data']>) {
  if (ok) return <p className='note note-good'>{say('settings.testOk', { model, time: sayDuration(latencyMs) })}</p>
  return (
    <div className='note note-bad'>
      <p><VisibleText text={plainWords(error)} /></p>
      {words !== undefined && <p>{say('address.said')} “<VisibleText text={words} />”</p>}
    </div>
  )
}
