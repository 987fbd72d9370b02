import { Pencil } from 'lucide-react'
import type { Steer } from '../../../../client/generated/index.ts'
import { say } from '../../../lib/say.ts'
import { IconButton } from '../../../parts/icon-button.tsx'
import { VisibleText } from '../../../parts/visible-text.tsx'
import type { ReactNode } from 'react'

interface Props {
  text: string
  /** For a steering message: whether it has been read. */
  state?: Steer['state']
  onEdit?: () => void
  /** The earlier versions of the message. */
  versions?: ReactNode
}

/** A message of the user. */
export function SaidRow ({ text, state, onEdit, versions }: Props) {
  return (
    <>
      {versions}
      {onEdit && (
        <IconButton icon={Pencil} label={say('chat.edit')} className='button button-quiet button-icon row-action' onClick={onEdit} />
      )}
      <div className='said row-text'>
        <VisibleText text={text} />
        {state !== undefined && <p className='quiet said-state'>{say(`chat.steerStates.${state}`)}</p>}
      </div>
    </>
  )
}
