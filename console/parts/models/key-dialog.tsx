import { useState, type FormEvent } from 'react'
import type { ProviderTested } from '../../../client/generated/index.ts'
import { say, type TextKey } from '../../lib/say.ts'
import { useAnnounce } from '../announcer.tsx'
import { Button } from '../button.tsx'
import { Dialog } from '../dialog.tsx'
import { Failed } from '../failed.tsx'
import { VisibleText } from '../visible-text.tsx'
import { useKeyStore, useKeyTest } from './model-queries.ts'
import { providerName } from './provider-name.ts'

/** Errors of a test that do not mean that the key is wrong. */
const PROBLEMS: Record<string, TextKey> = {
  ERR_PROVIDER_UNREACHABLE: 'key.unreachable',
  ERR_PROVIDER_TIMEOUT: 'key.timeout',
  ERR_PROVIDER_CREDIT: 'key.credit',
  ERR_PROVIDER_RATE_LIMIT: 'key.limited',
  ERR_PROVIDER_FORBIDDEN: 'key.forbidden',
  ERR_MODEL_NOT_FOUND: 'key.noModel'
}

/** The pages on which users create keys. */
const MADE_AT: Record<string, string> = {
  anthropic: 'https://console.anthropic.com/settings/keys',
  openai: 'https://platform.openai.com/api-keys',
  google: 'https://aistudio.google.com/apikey'
}

interface Props {
  /** The providers to choose from. */
  providers: string[]
  onClose: () => void
}

/**
 * Asks for the key of a provider, and stores the key after a successful test call. A key that the provider refuses is not stored. A key
 * that could not be tested is stored only if the user confirms. The key is sent to the service, and the page does not keep it.
 */
export function KeyDialog ({ providers, onClose }: Props) {
  const [provider, setProvider] = useState(providers[0])
  const [key, setKey] = useState('')
  const test = useKeyTest()
  const store = useKeyStore()
  const announce = useAnnounce()
  const name = providerName(provider)
  const entered = { provider, key: key.trim() }
  const isBusy = test.isPending || store.isPending

  const keep = (model: string) => store.mutate({ ...entered, model }, {
    onSuccess () {
      announce(say('key.stored', { name }))
      onClose()
    }
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    // React Query does not call these callbacks if the dialog was closed in the meantime, so the key is then not stored.
    if (!isBusy && entered.key !== '') test.mutate(entered, { onSuccess: ({ ok, model }) => ok && keep(model) })
  }
  const change = (apply: () => void) => {
    apply()
    test.reset()
    store.reset()
  }

  return (
    <Dialog title={providers.length > 1 ? say('key.title') : say('key.titleOf', { name })} isOpen onClose={onClose}>
      <form className='section' onSubmit={submit}>
        {providers.length > 1 && (
          <label className='field'>
            <span>{say('key.provider')}</span>
            <select value={provider} disabled={isBusy} onChange={({ target }) => change(() => setProvider(target.value))}>
              {providers.map((each) => <option key={each} value={each}>{providerName(each)}</option>)}
            </select>
          </label>
        )}
        <label className='field'>
          <span>{say('key.label')}</span>
          <input
            type='password'
            required
            maxLength={1_000}
            autoComplete='off'
            aria-describedby='key-help'
            readOnly={isBusy}
            value={key}
            onChange={({ target }) => change(() => setKey(target.value))}
          />
        </label>
        <p id='key-help' className='quiet'>{say('key.help')}</p>
        <MakeKey provider={provider} />
        {test.data?.ok === false && <Problem name={name} tested={test.data} isBusy={store.isPending} onStore={keep} />}
        {(test.error ?? store.error) !== null && <Failed error={test.error ?? store.error} />}
        <div className='actions'>
          <Button onClick={onClose}>{say('app.cancel')}</Button>
          <Button kind='primary' type='submit' isBusy={isBusy}>{say(isBusy ? 'key.testing' : 'key.submit')}</Button>
        </div>
      </form>
    </Dialog>
  )
}

function MakeKey ({ provider }: { provider: string }) {
  const href = MADE_AT[provider]
  if (href === undefined) return null
  return <p><a href={href} target='_blank' rel='noreferrer noopener'>{say('key.make', { name: providerName(provider) })}</a></p>
}

interface ProblemProps {
  name: string
  tested: ProviderTested
  isBusy: boolean
  onStore: (model: string) => void
}

/** The reason why a key was not stored, the provider's message, and what the user can do. */
function Problem ({ name, tested: { model, code = '', error = '', said }, isBusy, onStore }: ProblemProps) {
  const isRefused = code === 'ERR_PROVIDER_AUTH'
  const problem = PROBLEMS[code]
  return (
    <div className={`note note-${isRefused ? 'bad' : 'warn'}`} role='alert'>
      <p>
        {isRefused ? say('key.refused', { name }) : problem === undefined ? <VisibleText text={error} /> : say(problem, { name, model })}
      </p>
      {said !== undefined && <p>{say('key.said', { name })} “<VisibleText text={said} />”</p>}
      <p>{say(isRefused ? 'key.check' : 'key.notTested', { name })}</p>
      {!isRefused && <Button isBusy={isBusy} onClick={() => onStore(model)}>{say('key.storeAnyway')}</Button>}
    </div>
  )
}
