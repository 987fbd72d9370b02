import { useState, type FormEvent } from 'react'
import type { Authorizing, Connected } from '../../../../client/generated/index.ts'
import { useDraft } from '../../../lib/draft.ts'
import { say } from '../../../lib/say.ts'
import { Button } from '../../../parts/button.tsx'
import { Failed } from '../../../parts/failed.tsx'
import { BoxFields, boxOf, canBox } from './box-fields.tsx'
import { ClientFields, clientOf } from './client-fields.tsx'
import { Field } from '../../../parts/field.tsx'
import { readPairs } from './read-pairs.ts'
import { splitCommand } from './split-command.ts'
import { useConnect } from './server-queries.ts'

/** The form that connects a tool server. Secrets are sent to the service, and the page does not store them. */
export function AddServer ({ autoFocus }: { autoFocus?: boolean }) {
  const [isAddress, setIsAddress] = useState(false)
  const [name, setName] = useDraft('server name')
  const [command, setCommand] = useDraft('server command')
  const [args, setArgs] = useDraft('server args')
  const [url, setUrl] = useDraft('server url')
  const [isBoxed, setIsBoxed] = useState(canBox())
  const [hosts, setHosts] = useDraft('server hosts')
  const [folders, setFolders] = useDraft('server folders')
  const [secrets, setSecrets] = useState('')
  const [clientId, setClientId] = useDraft('server client')
  const [clientSecret, setClientSecret] = useState('')
  const [redirectUri, setRedirectUri] = useDraft('server redirect')
  const connect = useConnect()
  /** Splits a command line that was typed into the field of the program. */
  const split = () => {
    const found = splitCommand(command)
    if (found === undefined) return
    setCommand(found.command)
    setArgs([...found.args, ...args === '' ? [] : [args]].join('\n'))
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const found = splitCommand(command)
    const lines = [...found?.args ?? [], ...args.split('\n').filter((line) => line !== '')]
    const values = secrets.trim() === '' ? undefined : readPairs(secrets, isAddress ? ':' : '=')
    connect.mutate(isAddress
      ? { name, url: url.trim(), ...values && { headers: values }, ...clientOf({ clientId, clientSecret, redirectUri }) }
      : {
          ...{ name, command: found?.command ?? command, ...isBoxed && { sandbox: boxOf(hosts, folders) } },
          ...{ ...lines.length > 0 && { args: lines }, ...values && { env: values } }
        }, {
      onSuccess () {
        for (const clear of [
          ...[setName, setCommand, setArgs, setUrl, setHosts, setFolders, setSecrets],
          ...[setClientId, setClientSecret, setRedirectUri]
        ]) clear('')
      }
    })
  }
  return (
    <form className='form' onSubmit={submit}>
      <Field label={say('settings.serverName')} hint={say('settings.serverNameHint')}>
        {(help) => (
          <input
            {...help} required autoFocus={autoFocus} pattern='[A-Za-z0-9._\-]{1,64}' value={name}
            onChange={(event) => setName(event.target.value)}
          />
        )}
      </Field>
      <fieldset className='choice'>
        <legend>{say('settings.serverKind')}</legend>
        {([false, true] as const).map((each) => (
          <label key={String(each)}>
            <input type='radio' name='kind' checked={isAddress === each} onChange={() => setIsAddress(each)} />{' '}
            {say(each ? 'settings.serverUrl' : 'settings.serverProgram')}
          </label>
        ))}
      </fieldset>
      {isAddress
        ? (
          <Field label={say('settings.serverAddress')}>
            {(help) => (
              <input {...help} required type='url' placeholder='https://' value={url} onChange={(event) => setUrl(event.target.value)} />
            )}
          </Field>
          )
        : (
          <>
            <Field label={say('settings.serverCommand')}>
              {(help) => (
                <input
                  {...help}
                  required
                  maxLength={4_096}
                  value={command}
                  onChange={({ target: { value } }) => setCommand(value)}
                  onBlur={split}
                />
              )}
            </Field>
            <Field label={say('settings.serverArgs')}>
              {(help) => <textarea {...help} rows={2} value={args} onChange={(event) => setArgs(event.target.value)} />}
            </Field>
            {canBox() && <BoxFields {...{ isBoxed, setIsBoxed, hosts, setHosts, folders, setFolders }} />}
          </>
          )}
      <Field
        label={say(isAddress ? 'settings.serverHeaders' : 'settings.serverEnv')}
        hint={`${isAddress ? `${say('settings.serverHeadersHint')} ` : ''}${say('settings.secretsHelp')}`}
      >
        {(help) => (
          <textarea
            {...help}
            rows={2}
            autoComplete='off'
            spellCheck={false}
            value={secrets}
            onChange={(event) => setSecrets(event.target.value)}
          />
        )}
      </Field>
      {isAddress && <ClientFields {...{ clientId, setClientId, clientSecret, setClientSecret, redirectUri, setRedirectUri }} />}
      {connect.error !== null && <Failed error={connect.error} />}
      <div className='actions'>
        <Button kind='primary' type='submit' isBusy={connect.isPending}>
          {say(connect.isPending ? 'settings.connecting' : 'settings.connect')}
        </Button>
        <span role='status'>{connect.data !== undefined && outcome(connect.data, connect.variables.name)}</span>
      </div>
    </form>
  )
}

/**
 * Returns the outcome of connecting a server as a sentence; undefined if the server waits for the user's authorization, which its list
 * entry shows.
 */
const outcome = (connected: Connected | Authorizing, name: string): string | undefined =>
  connected.status === 'authorizing' ? undefined : say('settings.connectedNow', { name, count: connected.tools.length })
