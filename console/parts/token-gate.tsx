import { useEffect, useId, useRef, useState, type FormEvent, type KeyboardEvent, type ReactNode } from 'react'
import { createPortal } from 'react-dom'
import { say } from '../lib/say.ts'
import { enterToken, tryToken, useSession } from '../lib/session.ts'
import { Button } from './button.tsx'

/**
 * Asks for the token when the service refuses a request of the page. The question replaces the page. If the service has answered the page
 * before, the question appears above the page instead, which keeps everything that was typed and continues afterwards.
 */
export function TokenGate ({ children }: { children: ReactNode }) {
  const { token, isRefused, isKnown } = useSession()
  if (isRefused && !isKnown) return <main className='token-form'><TokenForm isWrong={token !== undefined} /></main>
  return <>{children}{isRefused && <LostToken />}</>
}

/** The question above the page. It is modal above the page's own dialogs, which stay open, and it cannot be closed. */
function LostToken () {
  const dialog = useRef<HTMLDialogElement>(null)
  const title = useId()
  useEffect(() => {
    const { current } = dialog
    current?.showModal()
    return () => current?.close()
  }, [])
  const keep = (event: KeyboardEvent) => {
    // The page's own dialogs must not handle this key.
    event.nativeEvent.stopImmediatePropagation()
    if (event.key === 'Escape') event.preventDefault()
  }
  return createPortal(
    <dialog ref={dialog} className='token-form' aria-labelledby={title} onCancel={(event) => event.preventDefault()} onKeyDown={keep}>
      <TokenForm titleId={title} isLost />
    </dialog>,
    document.body
  )
}

interface Props {
  titleId?: string
  /** True if the token was accepted until now. */
  isLost?: boolean
  /** True if the stored token is not accepted. */
  isWrong?: boolean
}

function TokenForm ({ titleId, isLost = false, isWrong = false }: Props) {
  const [problem, setProblem] = useState<'wrong' | 'unreachable' | undefined>(isWrong ? 'wrong' : undefined)
  const [isBusy, setIsBusy] = useState(false)

  async function submit (event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const token = String(new FormData(event.currentTarget).get('token')).trim()
    if (token === '' || isBusy) return
    setIsBusy(true)
    setProblem(undefined)
    const found = await tryToken(token)
    setIsBusy(false)
    if (found === 'accepted') enterToken(token)
    else setProblem(found === 'refused' ? 'wrong' : 'unreachable')
  }

  return (
    <>
      <h1 id={titleId}>{say(isLost ? 'token.changed' : 'token.title')}</h1>
      {isLost && <p>{say('token.changedText')}</p>}
      <form onSubmit={(event) => void submit(event)}>
        <label className='field'>
          <span>{say('token.label')}</span>
          <input type='password' name='token' autoComplete='off' required autoFocus aria-describedby='token-help' />
        </label>
        <p id='token-help' className='quiet'>{say('token.help')}</p>
        {problem !== undefined && <p role='alert' className='bad'>{say(`token.${problem}`)}</p>}
        <Button kind='primary' type='submit' isBusy={isBusy}>{say(isLost ? 'token.goOn' : 'token.submit')}</Button>
      </form>
    </>
  )
}
