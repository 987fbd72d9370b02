import type { LucideIcon } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { say } from '../lib/say.ts'
import { Button, type ButtonProps } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Failed } from './failed.tsx'
import { IconButton } from './icon-button.tsx'

interface Props {
  /** The label of the button that opens the dialog. */
  label: string
  title: string
  text: ReactNode
  /** The label of the button that confirms; by default, `label`. */
  action?: string
  kind?: ButtonProps['kind']
  /** An icon that replaces the label. */
  icon?: LucideIcon
  /** The inbox key that presses the button; see pages/inbox/use-item-keys.ts. */
  does?: string
  onConfirm: () => Promise<unknown>
}

/** A button with an irreversible action, which must be confirmed in a dialog. The dialog stays open if the action fails. */
export function Confirm ({ label, title, text, action = label, kind = 'normal', icon, does, onConfirm }: Props) {
  const [isOpen, setIsOpen] = useState(false)
  const [isBusy, setIsBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const confirm = async () => {
    setIsBusy(true)
    setError(undefined)
    try {
      await onConfirm()
      setIsOpen(false)
    } catch (thrown) {
      setError(thrown)
    } finally {
      setIsBusy(false)
    }
  }
  return (
    <>
      {icon
        ? <IconButton icon={icon} label={label} kind={kind} onClick={() => setIsOpen(true)} />
        : <Button kind={kind} data-does={does} onClick={() => setIsOpen(true)}>{label}</Button>}
      <Dialog title={title} isOpen={isOpen} onClose={() => setIsOpen(false)}>
        <div>{text}</div>
        {error !== undefined && <Failed error={error} />}
        <div className='actions'>
          <Button onClick={() => setIsOpen(false)}>{say('app.cancel')}</Button>
          <Button kind='danger' isBusy={isBusy} onClick={() => void confirm()}>{action}</Button>
        </div>
      </Dialog>
    </>
  )
}
