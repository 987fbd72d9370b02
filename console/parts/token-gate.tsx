import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState, type FormEvent, type ReactNode } from 'react'
import { AgentError } from '../../client/errors.ts'
import { getConfig } from '../../client/generated/index.ts'
import { say } from '../lib/say.ts'
import { asked, tokenInUse, useNewToken } from '../lib/service.ts'
import { clearToken, saveToken } from '../lib/session.ts'
import { Button } from './button.tsx'
import { Loading } from './loading.tsx'

/** Whether the service accepts the token in use. A service that does not answer is not asked further: the page says so itself. */
async function isAccepted (): Promise<boolean> {
  try {
    await getConfig(asked())
    return true
  } catch (error) {
    return !(error instanceof AgentError && error.statusCode === 401)
  }
}

/** Asks for the token when the service needs one. */
export function TokenGate ({ children }: { children: ReactNode }) {
  const [state, setState] = useState<'checking' | 'needed' | 'wrong' | 'open'>('checking')
  const queries = useQueryClient()

  useEffect(() => {
    void isAccepted().then((accepted) => setState(accepted ? 'open' : tokenInUse() === undefined ? 'needed' : 'wrong'))
  }, [])
  // A service that was restarted may have another token.
  useEffect(() => queries.getQueryCache().subscribe(({ query: { state: { error } } }) => {
    if (error instanceof AgentError && error.statusCode === 401) setState('wrong')
  }), [queries])

  async function submit (event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const token = String(new FormData(event.currentTarget).get('token')).trim()
    if (token === '') return
    useNewToken(token)
    if (!await isAccepted()) {
      clearToken()
      return setState('wrong')
    }
    saveToken(token)
    queries.clear()
    setState('open')
  }

  if (state === 'checking') return <Loading />
  if (state === 'open') return children
  return (
    <main className='token-form'>
      <h1>{say('token.title')}</h1>
      <form onSubmit={(event) => void submit(event)}>
        <label className='field'>
          <span>{say('token.label')}</span>
          <input type='password' name='token' autoComplete='off' required autoFocus aria-describedby='token-help' />
        </label>
        <p id='token-help' className='quiet'>{say('token.help')}</p>
        {state === 'wrong' && <p role='alert' className='bad'>{say('token.wrong')}</p>}
        <Button kind='primary' type='submit'>{say('token.submit')}</Button>
      </form>
    </main>
  )
}
