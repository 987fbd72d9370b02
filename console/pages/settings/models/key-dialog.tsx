import type { FormEvent } from 'react'
import { say } from '../../../lib/say.ts'
import { useAnnounce } from '../../../parts/announcer.tsx'
import { Button } from '../../../parts/button.tsx'
import { Dialog } from '../../../parts/dialog.tsx'
import { Failed } from '../../../parts/failed.tsx'
import { useConfigure } from './model-queries.ts'

/** Asks for the key of a provider. The key is sent to the service and kept nowhere on the page. */
export function KeyDialog ({ provider, onClose }: { provider: string, onClose: () => void }) {
  const configure = useConfigure()
  const announce = useAnnounce()
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const key = String(new FormData(event.currentTarget).get('key')).trim()
    configure.mutate(provider === 'gateway' ? { gateway_key: key } : { keys: { [provider]: key } }, {
      onSuccess () {
        announce(say('settings.keySaved', { name: provider }))
        onClose()
      }
    })
  }
  return (
    <Dialog title={say('settings.keyTitle', { name: provider })} isOpen onClose={onClose}>
      <form className='section' onSubmit={submit}>
        <label className='field'>
          <span>{say('settings.keyLabel')}</span>
          <input name='key' type='password' required maxLength={1_000} autoComplete='off' aria-describedby='key-help' />
        </label>
        <p id='key-help' className='quiet'>{say('settings.keyHelp')}</p>
        {configure.error !== null && <Failed error={configure.error} />}
        <div className='actions'>
          <Button onClick={onClose}>{say('app.cancel')}</Button>
          <Button kind='primary' type='submit' isBusy={configure.isPending}>{say('settings.save')}</Button>
        </div>
      </form>
    </Dialog>
  )
}
