import { useState } from 'react'
import { say } from '../../../lib/say.ts'
import { VisibleText } from '../../../parts/visible-text.tsx'

/** What the agent thought, when the user asks for it. */
export function Reasoning ({ text, isAnalysis, isOpen }: { text: string, isAnalysis: boolean, isOpen: boolean }) {
  const [isShown, setIsShown] = useState(false)
  return (
    <details className='reasoning' onToggle={(event) => setIsShown(event.currentTarget.open)}>
      <summary className='quiet'>{say(isAnalysis ? 'chat.analysis' : isOpen ? 'chat.reasoning' : 'chat.reasoned')}</summary>
      {isShown && <p className='quiet row-text'><VisibleText text={text} /></p>}
    </details>
  )
}
