import { useState } from 'react'
import { say, type TextKey } from '../../../lib/say.ts'
import { VisibleText } from '../../../parts/visible-text.tsx'
import type { CallPart } from './rows.ts'

const STATES: Record<CallPart['state'], [tone: string, sign: string, text: TextKey]> = {
  'input-streaming': ['calm', '▷', 'chat.call.writing'],
  'input-available': ['busy', '▶', 'chat.call.running'],
  'approval-requested': ['warn', '!', 'chat.call.asked'],
  'approval-responded': ['busy', '▶', 'chat.call.running'],
  'output-available': ['good', '✓', 'chat.call.done'],
  'output-error': ['bad', '✕', 'chat.call.failed'],
  'output-denied': ['warn', '–', 'chat.call.denied']
}
/** The fields of inputs that say most about a call, for its one line. */
const TELLING = ['path', 'command', 'query', 'url', 'goal', 'name', 'text']

/** A call of a tool in one line, with its input and output when the user asks for them. */
export function CallRow ({ part, name }: { part: CallPart, name: string }) {
  const [isShown, setIsShown] = useState(false)
  const [tone, sign, text] = STATES[part.state]
  return (
    <details className='call-row' onToggle={(event) => setIsShown(event.currentTarget.open)}>
      <summary>
        <span className={`status status-${tone}`}><span aria-hidden='true'>{sign}</span> {say(text)}</span>{' '}
        <code><VisibleText text={name} limit={100} /></code> <span className='quiet call-brief'><VisibleText text={briefOf(part.input)} limit={160} /></span>
      </summary>
      {isShown && (
        <div className='call-whole'>
          {part.input !== undefined && <><h3>{say('chat.call.input')}</h3><pre><VisibleText text={asText(part.input)} /></pre></>}
          {part.state === 'output-available' && <><h3>{say('chat.call.output')}</h3><pre><VisibleText text={asText(part.output)} /></pre></>}
          {part.state === 'output-error' && <><h3>{say('chat.call.error')}</h3><pre><VisibleText text={part.errorText} /></pre></>}
        </div>
      )}
    </details>
  )
}

const asText = (value: unknown) => typeof value === 'string' ? value : JSON.stringify(value, null, 2) ?? ''

function briefOf (input: unknown): string {
  if (typeof input !== 'object' || input === null) return ''
  const fields = new Map(Object.entries(input))
  const telling = TELLING.map((field) => fields.get(field)).find((value) => typeof value === 'string')
  return telling === undefined ? '' : String(telling).split('\n', 1)[0]
}
