import { useState } from 'react'
import { say } from '../../../lib/say.ts'
import { VisibleText } from '../../../parts/visible-text.tsx'

/** The reasoning of the agent, shown when the user expands it. */
export function Reasoning ({ text, isAnalysis, isOpen }: { text: string, isAnalysis: boolean, isOpen: boolean }) {
  const [isShown, setIsShown] = useState(false)
  return (
    <details className='reasoning' onToggle={(event) => setIsShown(event.currentTarget.open)}>
      <summary className='quiet'>{say(isAnalysis ? 'chat.analysis' : isOpen ? 'chat.reasoning' : 'chat.reasoned')}</summary>
      {isShown && <p className='quiet row-text'><VisibleText text={text} /></p>}
    </details>
  )
}
