import { say } from '../../../lib/say.ts'
import { Field } from '../../../parts/field.tsx'

interface Client {
  clientId: string
  clientSecret: string
  redirectUri: string
}

/** Returns the request fields for the OAuth client that the form describes. */
export const clientOf = ({ clientId, clientSecret, redirectUri }: Client) => ({
  ...clientId.trim() !== '' && { clientId: clientId.trim() },
  ...clientSecret !== '' && { clientSecret },
  ...redirectUri.trim() !== '' && { redirectUri: redirectUri.trim() }
})

interface Props extends Client {
  setClientId: (clientId: string) => void
  setClientSecret: (clientSecret: string) => void
  setRedirectUri: (redirectUri: string) => void
}

/** Fields for the OAuth client of a server that does not register clients by itself. The secret is not shown again. */
export function ClientFields ({ clientId, setClientId, clientSecret, setClientSecret, redirectUri, setRedirectUri }: Props) {
  return (
    <details>
      <summary>{say('settings.serverClient')}</summary>
      <div className='section'>
        <p className='quiet'>{say('settings.serverClientHint')}</p>
        <Field label={say('settings.serverClientId')}>
          {(help) => (
            <input {...help} autoComplete='off' spellCheck={false} value={clientId} onChange={(event) => setClientId(event.target.value)} />
          )}
        </Field>
        <Field label={say('settings.serverClientSecret')} hint={say('settings.serverClientSecretHint')}>
          {(help) => (
            <input
              {...help} type='password' autoComplete='new-password' value={clientSecret}
              onChange={(event) => setClientSecret(event.target.value)}
            />
          )}
        </Field>
        <Field label={say('settings.serverRedirect')} hint={say('settings.serverRedirectHint')}>
          {(help) => (
            <input
              {...help} type='url' pattern='http://(127\.0\.0\.1|localhost)(:[0-9]{1,5})?/.*'
              placeholder='http://127.0.0.1:8765/oauth/callback' value={redirectUri}
              onChange={(event) => setRedirectUri(event.target.value)}
            />
          )}
        </Field>
      </div>
    </details>
  )
}
