import { plainWords } from '../../lib/plain-words.ts'
import { say } from '../../lib/say.ts'
import { VisibleText } from '../visible-text.tsx'
import { useModels } from './model-queries.ts'
import { providerName } from './provider-name.ts'

/** The providers whose models could not be listed, with the reasons. */
export function ListErrors () {
  const errors = useModels().data?.errors ?? []
  if (errors.length === 0) return null
  return (
    <details className='model-errors quiet'>
      <summary>{say('settings.modelErrors')}</summary>
      <ul>
        {errors.map(({ provider, error }) => (
          <li key={provider}>{providerName(provider)}: <VisibleText text={plainWords(error)} /></li>
        ))}
      </ul>
    </details>
  )
}
