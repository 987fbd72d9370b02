import { Type } from '@sinclair/typebox'
import type { Phase } from '../../../schemas/tasks.ts'
import { PHASE_TOOL } from '../../contracts/model-texts.ts'
import type { Tool } from '../../contracts/tool.ts'
import type { Run, TaskRun } from '../../runs/index.ts'
import { ToolFailed } from '../../tools/index.ts'

const STATUSES = ['running', 'completed', 'failed', 'skipped'] as const

/**
 * Creates the tool with which a run reports the progress of its plan. The tool changes the phases in the record of the run, and nothing
 * outside of the run.
 */
export function createPhaseTool (run: Run<TaskRun>): Tool<{ phase: string, status: Phase['status'] }> {
  return {
    model: {
      name: PHASE_TOOL,
      description: 'Says how far the plan is: call it whenever a phase is completed, failed or skipped. The next phase then begins.',
      schema: Type.Object({
        phase: Type.String({ description: "The phase's id, such as phase-1" }),
        status: Type.Union(STATUSES.map((status) => Type.Literal(status)))
      }, { additionalProperties: false }),
      compact: {
        description: 'Call it whenever a phase of the plan is completed, failed or skipped.',
        schema: Type.Object({ phase: Type.String(), status: Type.String() })
      },
      use: 'always'
    },
    policy: { effect: 'read' },
    async execute ({ phase, status }) {
      const known = run.record.phases
      const found = known.find(({ id, description }) => id === phase || description === phase)
      if (found === undefined) {
        throw new ToolFailed(`There is no phase ${JSON.stringify(phase)}. The phases are ${known.map(({ id }) => id).join(', ')}.`)
      }
      const phases = beginNext(known.map((phase) => phase.id === found.id ? { ...phase, status } : phase))
      run.record = { ...run.record, phases }
      return { phases: phases.map(({ id, status }) => ({ id, status })) }
    }
  }
}

/** Marks the first pending phase as running, unless another phase is running. */
export function beginNext (phases: Phase[]): Phase[] {
  const isBusy = phases.some(({ status }) => status === 'running')
  const next = isBusy ? undefined : phases.find(({ status }) => status === 'pending')?.id
  return phases.map((phase) => phase.id === next ? { ...phase, status: 'running' } : phase)
}

/**
 * Returns the final phases of a run, and those that changed. In a completed run, running and pending phases
 * become completed. In any other run, the running phase becomes failed and pending phases become skipped.
 */
export function endPhases (phases: Phase[], completed: boolean): { phases: Phase[], changed: Phase[] } {
  const after = phases.map((phase) => {
    if (completed && (phase.status === 'running' || phase.status === 'pending')) return { ...phase, status: 'completed' as const }
    if (phase.status === 'running') return { ...phase, status: 'failed' as const }
    return phase.status === 'pending' ? { ...phase, status: 'skipped' as const } : phase
  })
  return { phases: after, changed: after.filter(({ status }, at) => status !== phases[at].status) }
}
