import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { putThread } from '../../../../client/generated/index.ts'
import { keys } from '../../../lib/queries.ts'
import { say } from '../../../lib/say.ts'
import { asked } from '../../../lib/service.ts'
import { Button } from '../../../parts/button.tsx'
import { Dialog } from '../../../parts/dialog.tsx'
import { Failed } from '../../../parts/failed.tsx'

/** A dialog that renames a conversation. If the title is empty, the service generates a title again. */
export function RenameThread ({ id, title, isOpen, onClose }: { id: string, title: string, isOpen: boolean, onClose: () => void }) {
  const queries = useQueryClient()
  const rename = useMutation({
    mutationFn: (next: string) => putThread({ ...asked(), path: { id }, body: { title: next } }),
    onSuccess () {
      void queries.invalidateQueries({ queryKey: keys.threads() })
      onClose()
    }
  })
  function submit (event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    rename.mutate(String(new FormData(event.currentTarget).get('title')).trim())
  }
  return (
    <Dialog title={say('chat.renameTitle')} isOpen={isOpen} onClose={onClose}>
      <form className='section' onSubmit={submit}>
        <label className='field'>
          <span>{say('chat.titleLabel')}</span>
          <input name='title' defaultValue={title} maxLength={200} autoFocus aria-describedby='rename-help' />
        </label>
        <p id='rename-help' className='quiet'>{say('chat.titleHelp')}</p>
        {rename.isError && <Failed error={rename.error} />}
        <div className='actions'>
          <Button onClick={onClose}>{say('app.cancel')}</Button>
          <Button kind='primary' type='submit' isBusy={rename.isPending}>{say('chat.rename')}</Button>
        </div>
      </form>
    </Dialog>
  )
}
