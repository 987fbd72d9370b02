import { Link } from 'wouter'
import { plainText } from '../lib/plain-fields.ts'
import { isAboutModels } from '../lib/plain-words.ts'
import { say } from '../lib/say.ts'
import { Button } from './button.tsx'

/** The sentence of an error of the service, with a way to try again. */
export function Failed ({ error, onRetry }: { error: unknown, onRetry?: () => void }) {
  const message = error instanceof Error ? error.message : ''
  return (
    <div className='note note-bad' role='alert'>
      <p>{plainText(message) || say('app.failed')}</p>
      {(onRetry || isAboutModels(message)) && (
        <div className='actions'>
          {onRetry && <Button onClick={onRetry}>{say('app.retry')}</Button>}
          {isAboutModels(message) && <Link href='/settings' className='button'>{say('app.modelSettings')}</Link>}
        </div>
      )}
    </div>
  )
}
