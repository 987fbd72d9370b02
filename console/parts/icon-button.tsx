import { forwardRef } from 'react'
import type { LucideIcon } from 'lucide-react'
import { Button, type ButtonProps } from './button.tsx'

interface Props extends ButtonProps {
  icon: LucideIcon
  /** The tooltip of the button, which screen readers announce. */
  label: string
  /** The text beside the icon: the label or a part of it. */
  words?: string
}

/** A button with an icon, and optionally a text. */
export const IconButton = forwardRef<HTMLButtonElement, Props>(
  function IconButton ({ icon: Icon, label, words, kind = 'quiet', ...rest }, ref) {
    return (
      <Button ref={ref} className={`button button-${kind} button-icon`} aria-label={label} title={label} {...rest}>
        <Icon />{words !== undefined && <span className='button-words'>{words}</span>}
      </Button>
    )
  }
)
