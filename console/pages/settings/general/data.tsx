import { useMutation } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { Download } from 'lucide-react'
import { headerText } from '../../../../client/create-client.ts'
import { eraseAll, exportAll } from '../../../../client/generated/index.ts'
import { forgetDrafts } from '../../../lib/draft.ts'
import { saveFile } from '../../../lib/save-file.ts'
import { say } from '../../../lib/say.ts'
import { asked, body } from '../../../lib/service.ts'
import { whenBack } from '../../../lib/when-back.ts'
import { Button } from '../../../parts/button.tsx'
import { Dialog } from '../../../parts/dialog.tsx'
import { Failed } from '../../../parts/failed.tsx'
import { forgetLatelyUsed } from '../../../parts/models/lately-used.ts'
import { ImportBackup } from './import-backup.tsx'

/** The text without which the service erases nothing. */
const ERASE = 'erase everything'

/** Exports all stored data, as a backup that a service can import or in a form for people, and erases all data. */
export function Data () {
  const [passphrase, setPassphrase] = useState('')
  const [isErasing, setIsErasing] = useState(false)
  const readable = useMutation({
    mutationFn: async () => {
      const data = await exportAll({ ...asked(), query: { format: 'json' }, parseAs: 'blob' }).then(body)
      saveFile(data as Blob, 'local-agent.json')
      return 'local-agent.json'
    }
  })
  const backup = useMutation({
    mutationFn: async () => {
      const data = await exportAll({ ...asked(), headers: { 'x-export-passphrase': headerText(passphrase) }, parseAs: 'blob' }).then(body)
      saveFile(data as Blob, 'local-agent.backup')
      setPassphrase('')
      return 'local-agent.backup'
    }
  })
  const save = (event: FormEvent) => {
    event.preventDefault()
    if (passphrase !== '') backup.mutate()
  }
  return (
    <section className='section'>
      <h2>{say('data.title')}</h2>
      <p className='quiet'>{say('data.text')}</p>
      <div className='actions'>
        <Button isBusy={readable.isPending} onClick={() => readable.mutate()}><Download /> {say('data.readable')}</Button>
      </div>
      <form className='inline-form looks' onSubmit={save}>
        <label className='field'>
          <span>{say('data.passphrase')}</span>
          <input
            type='password' autoComplete='new-password' minLength={12} maxLength={1_000} required value={passphrase}
            onChange={({ target }) => setPassphrase(target.value)}
          />
        </label>
        <Button type='submit' isBusy={backup.isPending}><Download /> {say('data.backup')}</Button>
      </form>
      <p className='quiet'>{say('data.backupText')}</p>
      {[readable, backup].map(({ error, isSuccess, data: name }, at) => (
        error !== null
          ? <Failed key={at} error={error} />
          : isSuccess && <p key={at} className='quiet' role='status'>{say('data.saved', { name })}</p>
      ))}
      <div className='actions'>
        <ImportBackup />
        <Button kind='danger' onClick={() => setIsErasing(true)}>{say('data.erase')}</Button>
      </div>
      {isErasing && <Erase onClose={() => setIsErasing(false)} />}
    </section>
  )
}

/** Asks the user to type a word before all data is erased. Afterwards the console starts again. */
function Erase ({ onClose }: { onClose: () => void }) {
  const [typed, setTyped] = useState('')
  const isMeant = typed.trim().toLowerCase() === say('data.eraseWord')
  const erasing = useMutation({
    async mutationFn () {
      await eraseAll({ ...asked(), body: { confirm: ERASE } })
      forgetDrafts()
      forgetLatelyUsed()
      // The service accepts no connection until it has restarted.
      await whenBack()
      location.assign('/console/')
    }
  })
  return (
    <Dialog title={say('data.eraseTitle')} isOpen onClose={onClose}>
      <p>{say('data.eraseText')}</p>
      <label className='field'>
        <span>{say('data.eraseType', { word: say('data.eraseWord') })}</span>
        <input value={typed} autoComplete='off' onChange={({ target }) => setTyped(target.value)} />
      </label>
      {erasing.isError && <Failed error={erasing.error} />}
      <div className='actions'>
        <Button onClick={onClose}>{say('app.cancel')}</Button>
        <Button kind='danger' disabled={!isMeant} isBusy={erasing.isPending} onClick={() => { if (isMeant) erasing.mutate() }}>
          {say('data.eraseAll')}
        </Button>
      </div>
    </Dialog>
  )
}
