import { forwardRef } from 'react'
import type { LucideIcon } from 'lucide-react'
import { Button, type ButtonProps } from './button.tsx'

interface Props extends ButtonProps {
  icon: LucideIcon
  /** Its words, which are shown when the pointer rests on it, and read aloud. */
  label: string
  /** Words beside the picture: those of the label, or some of them. */
  words?: string
}

/** A button that is a picture, alone or with words. */
export const IconButton = forwardRef<HTMLButtonElement, Props>(
  function IconButton ({ icon: Icon, label, words, kind = 'quiet', ...rest }, ref) {
    return (
      <Button ref={ref} className={`button button-${kind} button-icon`} aria-label={label} title={label} {...rest}>
        <Icon />{words !== undefined && <span className='button-words'>{words}</span>}
      </Button>
    )
  }
)
