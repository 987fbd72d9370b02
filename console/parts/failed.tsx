import { say } from '../lib/say.ts'
import { Button } from './button.tsx'

/** The sentence of an error of the service, with a way to try again. */
export function Failed ({ error, onRetry }: { error: unknown, onRetry?: () => void }) {
  return (
    <div className='note note-bad' role='alert'>
      <p>{error instanceof Error && error.message !== '' ? error.message : say('app.failed')}</p>
      {onRetry && <Button onClick={onRetry}>{say('app.retry')}</Button>}
    </div>
  )
}
