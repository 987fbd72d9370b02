import { Dialog as Base } from '@base-ui/react/dialog'
import { X } from 'lucide-react'
import type { ReactNode } from 'react'
import { say } from '../lib/say.ts'

interface Props {
  title: string
  isOpen: boolean
  onClose: () => void
  children: ReactNode
}

/** A modal dialog. Escape closes it, and the focus returns to the element that had it before. */
export function Dialog ({ title, isOpen, onClose, children }: Props) {
  return (
    <Base.Root open={isOpen} onOpenChange={(open) => { if (!open) onClose() }}>
      <Base.Portal>
        <Base.Backdrop className='dialog-backdrop' />
        <Base.Popup className='dialog'>
          <Base.Title className='dialog-title'>{title}</Base.Title>
          {children}
          <Base.Close className='button button-quiet button-icon dialog-close' aria-label={say('app.close')}><X /></Base.Close>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}
