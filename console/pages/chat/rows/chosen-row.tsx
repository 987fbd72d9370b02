import { say } from '../../../lib/say.ts'
import { Button } from '../../../parts/button.tsx'
import { VisibleText } from '../../../parts/visible-text.tsx'
import { chosenName } from '../composer/chosen-chips.tsx'
import type { Chosen } from '../thread/chosen.ts'

interface Props {
  chosen: Chosen
  /** Edits the message, where it has no words that could be edited. */
  onEdit?: () => void
}

/** The prompt or skill that the user had chosen for a message: its name, and on demand the words of the prompt, which are its server's. */
export function ChosenRow ({ chosen, onEdit }: Props) {
  const name = <VisibleText text={chosenName(chosen)} limit={120} />
  return (
    <>
      {onEdit && <Button kind='quiet' className='button button-quiet row-action' onClick={onEdit}>{say('chat.edit')}</Button>}
      {chosen.kind === 'prompt' && chosen.words !== undefined
        ? (
          <details className='said said-chosen'>
            <summary>{name}</summary>
            <p className='quiet'>{say('chat.promptWords', { server: chosen.server })}</p>
            <div className='row-text'><VisibleText text={chosen.words} /></div>
          </details>
          )
        : <p className='said said-chosen'>{name}</p>}
    </>
  )
}
