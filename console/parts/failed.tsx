import { Link } from 'wouter'
import { plainText } from '../lib/plain-fields.ts'
import { isAboutModels, splitDetail } from '../lib/plain-words.ts'
import { say } from '../lib/say.ts'
import { Button } from './button.tsx'
import { ServiceText } from './service-text.tsx'

/** The message of an error of the service, with a button to try again. */
export function Failed ({ error, onRetry }: { error: unknown, onRetry?: () => void }) {
  const message = error instanceof Error ? error.message : ''
  const { sentence: plain, detail } = splitDetail(plainText(message))
  return (
    <div className='note note-bad' role='alert'>
      {plain === '' ? <p>{say('app.failed')}</p> : <p><ServiceText text={plain} /></p>}
      {detail !== undefined && (
        <details>
          <summary>{say('app.providerWords')}</summary>
          <p><ServiceText text={detail} /></p>
        </details>
      )}
      {(onRetry || isAboutModels(message)) && (
        <div className='actions'>
          {onRetry && <Button onClick={onRetry}>{say('app.retry')}</Button>}
          {isAboutModels(message) && <Link href='/settings' className='button'>{say('app.modelSettings')}</Link>}
        </div>
      )}
    </div>
  )
}
