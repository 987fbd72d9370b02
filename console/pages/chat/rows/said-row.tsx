import { say } from '../../../lib/say.ts'
import { Button } from '../../../parts/button.tsx'
import { VisibleText } from '../../../parts/visible-text.tsx'

/** What the user said. */
export function SaidRow ({ text, onEdit }: { text: string, onEdit?: () => void }) {
  return (
    <>
      {onEdit && <Button kind='quiet' className='button button-quiet row-action' onClick={onEdit}>{say('chat.edit')}</Button>}
      <div className='said row-text'><VisibleText text={text} /></div>
    </>
  )
}
