import { useEffect, useRef, useState } from 'react'
import { useSearch } from 'wouter'
import type { Run, TaskToolCall } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'
import { ToolCall } from '../../parts/tool-call.tsx'
import { VirtualList } from '../../parts/virtual-list.tsx'
import { isOver } from './run-words.ts'

const keyOf = ({ toolCallId }: TaskToolCall) => toolCallId

/** The tool calls of a run, in the order in which they were made. `?call=<id>` shows one of them expanded. */
export function Calls ({ run }: { run: Run }) {
  const { toolCalls } = run
  const named = new URLSearchParams(useSearch()).get('call') ?? ''
  const [opened] = useState(() => new Set<string>([named]))
  const section = useRef<HTMLElement>(null)
  const hasNamed = named !== '' && toolCalls.some((call) => keyOf(call) === named)
  useEffect(() => {
    if (!hasNamed) return
    const call = section.current?.querySelector<HTMLElement>('[data-named] summary')
    call?.scrollIntoView({ block: 'center' })
    call?.focus({ preventScroll: true })
  }, [hasNamed])
  return (
    <section className='section' aria-label={say('run.calls')} ref={section}>
      <h2>
        {say('run.calls')}
        {toolCalls.length > 0 && <span className='quiet'> · {say('run.callCount', { count: toolCalls.length })}</span>}
      </h2>
      {toolCalls.length === 0
        ? <p className='quiet'>{say(isOver(run) ? 'run.noCalls' : 'run.noCallsYet')}</p>
        : (
          <VirtualList<TaskToolCall> items={toolCalls} keyOf={keyOf} label={say('run.calls')} estimate={40} named={named}>
            {(call) => (
              <div data-named={keyOf(call) === named || undefined}>
                <ToolCall
                  call={call}
                  run={isOver(run) ? 'over' : run.status === 'pending_approval' ? 'waiting' : 'live'}
                  isOpenAtFirst={opened.has(keyOf(call))}
                  onOpenChange={(isOpen) => isOpen ? opened.add(keyOf(call)) : opened.delete(keyOf(call))}
                />
              </div>
            )}
          </VirtualList>
          )}
    </section>
  )
}
