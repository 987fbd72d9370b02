import { Type } from '@sinclair/typebox'
import type { Phase } from '../../../schemas/tasks.ts'
import type { Tool } from '../../tools/tool.ts'
import { ToolFailed } from '../../tools/tool-errors.ts'

type PhaseChange = { phases: Phase[], changed: Phase[] }

const STATUSES = ['running', 'completed', 'failed', 'skipped'] as const
export const PHASE_TOOL = 'updatePhase'

/** The tool with which a run reports the progress of its plan. It changes nothing outside the run. */
export function createPhaseTool (
  { phases, move }: { phases: () => Phase[], move: (change: PhaseChange) => void }
): Tool<{ phase: string, status: Phase['status'] }> {
  return {
    name: PHASE_TOOL,
    description: 'Says how far the plan is: call it whenever a phase begins, is completed, failed or skipped.',
    inputSchema: Type.Object({
      phase: Type.String({ description: "The phase's id, such as phase-1" }),
      status: Type.Union(STATUSES.map((status) => Type.Literal(status)))
    }, { additionalProperties: false }),
    effect: 'read',
    async execute ({ phase, status }) {
      const known = phases()
      const found = known.find(({ id, description }) => id === phase || description === phase)
      if (found === undefined) {
        throw new ToolFailed(`There is no phase ${JSON.stringify(phase)}. The phases are ${known.map(({ id }) => id).join(', ')}.`)
      }
      move(movePhase(known, found.id, status))
      return { phases: phases().map(({ id, status }) => ({ id, status })) }
    }
  }
}

/** Sets the status of a phase, then starts the next pending phase unless another is running. */
export function movePhase (phases: Phase[], id: string, status: Phase['status']): PhaseChange {
  return beginNext(phases.map((phase) => phase.id === id ? { ...phase, status } : phase), phases)
}

/** Starts the first pending phase unless another phase is running. `changed` lists the phases that differ from `before`. */
export function beginNext (phases: Phase[], before = phases): PhaseChange {
  const isBusy = phases.some(({ status }) => status === 'running')
  const next = isBusy ? undefined : phases.find(({ status }) => status === 'pending')?.id
  const after = phases.map((phase) => phase.id === next ? { ...phase, status: 'running' as const } : phase)
  return { phases: after, changed: after.filter(({ status }, at) => status !== before[at].status) }
}

/**
 * The phases after the end of the run. In a completed run, unreported phases are completed. Otherwise the running phase
 * has failed, and pending phases were skipped.
 */
export function endPhases (phases: Phase[], completed: boolean): PhaseChange {
  const after = phases.map((phase) => {
    if (completed && (phase.status === 'running' || phase.status === 'pending')) return { ...phase, status: 'completed' as const }
    if (phase.status === 'running') return { ...phase, status: 'failed' as const }
    return phase.status === 'pending' ? { ...phase, status: 'skipped' as const } : phase
  })
  return { phases: after, changed: after.filter(({ status }, at) => status !== phases[at].status) }
}
