import { useState, type FormEvent } from 'react'
import { useDraft } from '../../../lib/draft.ts'
import { say } from '../../../lib/say.ts'
import { Button } from '../../../parts/button.tsx'
import { Failed } from '../../../parts/failed.tsx'
import { readPairs } from './read-pairs.ts'
import { useConnect } from './server-queries.ts'

/** The form that connects a tool server. Its secrets are sent to the service and kept nowhere on the page. */
export function AddServer () {
  const [name, setName] = useDraft('server name')
  const [command, setCommand] = useDraft('server command')
  const [args, setArgs] = useDraft('server args')
  const [env, setEnv] = useState('')
  const connect = useConnect()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const list = args.split('\n').filter((line) => line !== '')
    connect.mutate({ name, command, ...list.length > 0 && { args: list }, ...env.trim() !== '' && { env: readPairs(env, '=') } }, {
      onSuccess () {
        for (const clear of [setName, setCommand, setArgs, setEnv]) clear('')
      }
    })
  }
  return (
    <form className='form' onSubmit={submit}>
      <label className='field'>
        <span>{say('settings.serverName')}</span>
        <input
          required
          pattern='[A-Za-z0-9._\-]{1,64}'
          title={say('settings.serverNameHint')}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
      </label>
      <label className='field'>
        <span>{say('settings.serverCommand')}</span>
        <input required maxLength={4_096} value={command} onChange={(event) => setCommand(event.target.value)} />
      </label>
      <label className='field'>
        <span>{say('settings.serverArgs')}</span>
        <textarea rows={2} value={args} onChange={(event) => setArgs(event.target.value)} />
      </label>
      <label className='field'>
        <span>{say('settings.serverEnv')}</span>
        <textarea rows={2} autoComplete='off' spellCheck={false} value={env} onChange={(event) => setEnv(event.target.value)} />
        <span className='quiet'>{say('settings.secretsHelp')}</span>
      </label>
      {connect.error !== null && <Failed error={connect.error} />}
      <div className='actions'>
        <Button kind='primary' type='submit' isBusy={connect.isPending}>
          {say(connect.isPending ? 'settings.connecting' : 'settings.connect')}
        </Button>
        <span role='status'>
          {connect.data?.status === 'connected' && connect.variables !== undefined &&
            say('settings.connectedNow', { name: connect.variables.name, count: connect.data.tools.length })}
        </span>
      </div>
    </form>
  )
}
