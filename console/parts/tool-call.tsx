import { useState } from 'react'
import { Link } from 'wouter'
import type { TaskToolCall } from '../../client/generated/index.ts'
import { say } from '../lib/say.ts'
import { sayDuration } from '../lib/time.ts'
import { Images, withoutImages } from './call/images.tsx'
import { outcomeOf, type RunState } from './call/outcome.ts'
import { targetOf } from './call/target.ts'
import { isRecord, Values } from './call/values.tsx'
import { Diff } from './diff/diff.tsx'
import { Status } from './status.tsx'
import { ToolName } from './tool-name.tsx'
import { VisibleText } from './visible-text.tsx'
import './tool-call.css'

interface Props {
  call: TaskToolCall
  /** The state of the call's run; by default, `over`. */
  run?: RunState
  /** True if the call is expanded at first, for lists that render a call again when it comes into view. */
  isOpenAtFirst?: boolean
  onOpenChange?: (isOpen: boolean) => void
}

/** A tool call in one line that can be expanded: its input and its outcome, with images, and with long texts cut. */
export function ToolCall ({ call, run = 'over', isOpenAtFirst = false, onOpenChange }: Props) {
  const [isOpen, setIsOpen] = useState(isOpenAtFirst)
  const about = targetOf(call.toolName, call.input)
  const target = about === '.' ? say('tool.here') : about
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

/** Fields of a call that changed a file which its diff already shows. */
const IN_DIFFERENCE = ['content', 'edits', 'diff', 'digest', 'path', 'bytesWritten', 'replacements', 'created']

function Body ({ call: { input, output, error, grantId } }: { call: TaskToolCall }) {
  if (isRecord(output) && typeof output.diff === 'string') {
    return <Change input={input} output={output} diff={output.diff} />
  }
  const { images, rest } = withoutImages(output)
  return (
    <div className='call-body'>
      {grantId !== undefined && <p className='quiet'>{say('run.granted')} <Link href='/settings/grants'>{say('settings.grants')}</Link></p>}
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

/** The change that a call made to a file: the file, the diff, and the other fields of the call. */
function Change ({ input, output, diff }: { input: unknown, output: Record<string, unknown>, diff: string }) {
  const more = Object.fromEntries(Object.entries(output).filter(([name]) => !IN_DIFFERENCE.includes(name)))
  const { path } = isRecord(input) ? input : output
  return (
    <div className='call-body'>
      {typeof path === 'string' && <p className='mono'><VisibleText text={path} limit={Infinity} /></p>}
      <Diff diff={diff} />
      {Object.keys(more).length > 0 && <Values value={more} />}
    </div>
  )
}
