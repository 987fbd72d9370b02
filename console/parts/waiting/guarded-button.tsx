import { useRef, useState, type MouseEvent, type ReactNode } from 'react'
import { say } from '../../lib/say.ts'
import { Button, type ButtonProps } from '../button.tsx'
import { STEADY_MS, useSteady } from './use-steady.ts'

interface Props {
  kind?: ButtonProps['kind']
  isBusy?: boolean
  onPress: () => void
  children: ReactNode
}

/**
 * A button that makes a decision. A press has no effect within half a second after the button appeared or moved, nor does a key within half
 * a second after the button got the focus, nor a key that is held down. The button then says that it must be pressed again.
 */
export function GuardedButton ({ kind, isBusy, onPress, children }: Props) {
  const button = useRef<HTMLButtonElement>(null)
  const focusedAt = useRef(-Infinity)
  const isSteady = useSteady(button)
  const [isTooEarly, setIsTooEarly] = useState(false)

  function press ({ detail }: MouseEvent) {
    // `detail` is 0 for a click that was made by a key.
    const isByKey = detail === 0
    const isMeant = isSteady() && (!isByKey || performance.now() - focusedAt.current >= STEADY_MS)
    setIsTooEarly(!isMeant)
    if (isMeant) onPress()
  }

  return (
    <span className='guarded'>
      <Button
        ref={button}
        kind={kind}
        isBusy={isBusy}
        onFocus={() => { focusedAt.current = performance.now() }}
        onBlur={() => { focusedAt.current = -Infinity }}
        onKeyDown={(event) => { if (event.repeat) event.preventDefault() }}
        onClick={press}
      >
        {children}
      </Button>
      {isTooEarly && <span role='status' className='quiet'>{say('approval.tooEarly')}</span>}
    </span>
  )
}
