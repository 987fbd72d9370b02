import { say } from '../../../lib/say.ts'
import { Button } from '../../../parts/button.tsx'
import { VisibleText } from '../../../parts/visible-text.tsx'
import { chosenName } from '../composer/chosen-chips.tsx'
import type { Chosen } from '../thread/chosen.ts'

interface Props {
  chosen: Chosen
  /** Edits the message, if the message has no text of its own that could be edited. */
  onEdit?: () => void
}

/** The prompt or skill that the user chose for a message: its name, and, expanded, the text of the prompt, which comes from its server. */
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
