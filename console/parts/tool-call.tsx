import { useState } from 'react'
import type { TaskToolCall } from '../../client/generated/index.ts'
import { say } from '../lib/say.ts'
import { sayDuration } from '../lib/time.ts'
import { Images, withoutImages } from './call/images.tsx'
import { outcomeOf, type RunState } from './call/outcome.ts'
import { isRecord, Values } from './call/values.tsx'
import { Status } from './status.tsx'
import { ToolName } from './tool-name.tsx'
import { VisibleText } from './visible-text.tsx'
import './tool-call.css'

/** Fields of an input that say what a call is about, the most telling first. */
const TARGETS = ['path', 'command', 'url', 'query', 'from', 'pattern', 'goal', 'text', 'key']
/** Characters of the target in the line of a closed call. */
const TARGET_SHOWN = 160

interface Props {
  call: TaskToolCall
  /** What the run of the call does; by default it is over. */
  run?: RunState
  /** Whether it is open at first, for lists that draw a call again when it comes into view. */
  isOpenAtFirst?: boolean
  onOpenChange?: (isOpen: boolean) => void
}

/** A tool call in one line that opens: its input and what came of it, with pictures, and with long texts cut. */
export function ToolCall ({ call, run = 'over', isOpenAtFirst = false, onOpenChange }: Props) {
  const [isOpen, setIsOpen] = useState(isOpenAtFirst)
  const target = targetOf(call.input)
  const { state, note } = outcomeOf(call, run)
  const toggle = (open: boolean) => {
    if (open === isOpen) return
    setIsOpen(open)
    onOpenChange?.(open)
  }
  return (
    <details className='call' open={isOpen} onToggle={({ currentTarget }) => toggle(currentTarget.open)}>
      <summary>
        <Status value={state} why={note} />
        <strong><ToolName name={call.toolName} /></strong>
        {target !== undefined && <span className='call-target mono'><VisibleText text={target} limit={Infinity} /></span>}
        {call.durationMs !== undefined && <span className='call-time quiet'>{sayDuration(call.durationMs)}</span>}
      </summary>
      {isOpen && <Body call={call} />}
    </details>
  )
}

function Body ({ call: { input, output, error, grantId } }: { call: TaskToolCall }) {
  const { images, rest } = withoutImages(output)
  return (
    <div className='call-body'>
      {grantId !== undefined && <p className='quiet'>{say('run.granted')}</p>}
      <section>
        <p className='call-label'>{say('run.input')}</p>
        <Values value={input} />
      </section>
      {error !== undefined && (
        <section>
          <p className='call-label'>{say('run.callError')}</p>
          <pre className='bad'><VisibleText text={error} /></pre>
        </section>
      )}
      {output !== undefined && (
        <section>
          <p className='call-label'>{say('run.output')}</p>
          <Images images={images} />
          <Values value={rest} />
        </section>
      )}
    </div>
  )
}

/** What a call is about in one line; undefined when its input has no such field. */
function targetOf (input: unknown): string | undefined {
  if (typeof input === 'string') return oneLine(input)
  if (!isRecord(input)) return undefined
  const target = TARGETS.map((name) => input[name]).find((value) => typeof value === 'string' && value !== '')
  return typeof target === 'string' ? oneLine(target) : undefined
}

function oneLine (text: string): string {
  const line = text.slice(0, TARGET_SHOWN).replace(/\s+/g, ' ').trim()
  return text.length > TARGET_SHOWN ? `${line}…` : line
}
