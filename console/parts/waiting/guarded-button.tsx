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
 * A button whose press decides something. It has no effect when it appeared or moved less than half a second ago, when a key presses
 * it less than half a second after it got the focus, or when a key is held down. It then says that it must be pressed again.
 */
export function GuardedButton ({ kind, isBusy, onPress, children }: Props) {
  const button = useRef<HTMLButtonElement>(null)
  const focusedAt = useRef(-Infinity)
  const isSteady = useSteady(button)
  const [isTooEarly, setIsTooEarly] = useState(false)

  function press ({ detail }: MouseEvent) {
    // A click that no pointer made has no count.
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
