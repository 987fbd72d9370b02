import { useState } from 'react'
import type { ImportedServer } from '../../../../client/generated/index.ts'
import { say } from '../../../lib/say.ts'
import { Button } from '../../../parts/button.tsx'
import { Failed } from '../../../parts/failed.tsx'
import { Field } from '../../../parts/field.tsx'
import { ServiceText } from '../../../parts/service-text.tsx'
import { Status } from '../../../parts/status.tsx'
import { VisibleText } from '../../../parts/visible-text.tsx'
import { useImport } from './server-queries.ts'

/**
 * Connects the servers of a pasted configuration, such as a README shows. Missing values are asked for. The text might hold secrets, so no
 * draft is stored.
 */
export function PasteServers () {
  const [text, setText] = useState('')
  const [values, setValues] = useState<Record<string, string>>({})
  const paste = useImport()
  const servers = paste.data?.servers ?? []
  const inputs = new Map(servers.flatMap(({ inputs = [] }) => inputs.map((input) => [input.id, input])))
  const exist = servers.filter(({ status }) => status === 'exists')
  const send = (replace = false) =>
    paste.mutate({ text, ...Object.keys(values).length > 0 && { values }, ...replace && { replace } }, {
      onSuccess ({ servers }) {
        if (!servers.some(({ status }) => status === 'incomplete' || status === 'exists' || status === 'refused')) setText('')
      }
    })
  return (
    <form
      className='form'
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <Field label={say('settings.pasteServers')} hint={say('settings.pasteServersHint')}>
        {(help) => (
          <textarea
            {...help} className='mono' rows={6} required maxLength={262_144} spellCheck={false} autoComplete='off'
            placeholder='{ "mcpServers": { … } }' value={text} onChange={(event) => setText(event.target.value)}
          />
        )}
      </Field>
      {[...inputs.values()].map(({ id, description }) => (
        <Field key={id} label={description ?? id} hint={say('settings.secretsHelp')}>
          {(help) => (
            <input
              {...help} type='password' autoComplete='off' value={values[id] ?? ''}
              onChange={({ target: { value } }) => setValues({ ...values, [id]: value })}
            />
          )}
        </Field>
      ))}
      {paste.isError && <Failed error={paste.error} />}
      <div className='actions'>
        <Button kind='primary' type='submit' isBusy={paste.isPending}>{say('settings.pasteConnect')}</Button>
        {exist.length > 0 && <Button onClick={() => send(true)}>{say('settings.pasteReplace', { count: exist.length })}</Button>}
      </div>
      <div role='status'>
        {servers.length > 0 && <ul className='list'>{servers.map((server) => <Imported key={server.from} {...server} />)}</ul>}
      </div>
    </form>
  )
}

const STATES: Record<ImportedServer['status'], string> = {
  ...{ saved: 'completed', replaced: 'completed', unchanged: 'completed' },
  ...{ exists: 'waiting', incomplete: 'waiting', refused: 'failed' }
}

/** The outcome for one server. */
function Imported ({ name, status, message }: ImportedServer) {
  return (
    <li className='imported'>
      <Status value={STATES[status]} />
      <span><strong><VisibleText text={name} limit={64} /></strong> <ServiceText text={message} limit={500} /></span>
    </li>
  )
}
