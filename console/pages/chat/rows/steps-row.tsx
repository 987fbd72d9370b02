import { useState } from 'react'
import { ListChecks } from 'lucide-react'
import { say } from '../../../lib/say.ts'
import { ToolName } from '../../../parts/tool-name.tsx'
import { CallRow } from './call-row.tsx'
import { runIdOf, type StepRow } from './rows.ts'
import { Reasoning } from './reasoning.tsx'

/** Successful steps of the agent in one line that can be expanded. The line names their kinds and counts. */
export function StepsRow ({ steps }: { steps: StepRow[] }) {
  const [isOpen, setIsOpen] = useState(false)
  const times = new Map<string, number>()
  for (const step of steps) if (step.kind === 'call') times.set(step.name, (times.get(step.name) ?? 0) + 1)
  return (
    <details className='steps' open={isOpen} onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary className='quiet'>
        <ListChecks /> {say('chat.steps', { count: steps.length })}
        <span className='steps-names'>
          {[...times].map(([name, count], at) => (
            <span key={name}>{at > 0 && ' · '}<ToolName name={name} />{count > 1 && ` × ${count}`}</span>
          ))}
        </span>
      </summary>
      {isOpen && steps.map((step) => (
        step.kind === 'call'
          ? <CallRow key={step.key} part={step.part} name={step.name} runId={runIdOf(step.message)} run='over' />
          : <Reasoning key={step.key} text={step.text} isAnalysis={step.isAnalysis} isOpen={step.isOpen} />
      ))}
    </details>
  )
}
