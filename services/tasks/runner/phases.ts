import { Type } from '@sinclair/typebox'
import type { Phase } from '../../../schemas/tasks.ts'
import type { Tool } from '../../tools/tool.ts'
import { ToolFailed } from '../../tools/tool-errors.ts'

type Moved = { phases: Phase[], changed: Phase[] }

const STATUSES = ['running', 'completed', 'failed', 'skipped'] as const
export const PHASE_TOOL = 'updatePhase'

/** The tool by which a run says how far it is. It changes nothing outside the run. */
export function createPhaseTool (
  { phases, move }: { phases: () => Phase[], move: (moved: Moved) => void }
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

/** The phases once one has changed; the next one that waits then begins. */
export function movePhase (phases: Phase[], id: string, status: Phase['status']): Moved {
  return beginNext(phases.map((phase) => phase.id === id ? { ...phase, status } : phase), phases)
}

/** The first phase that waits begins, unless one is under way. */
export function beginNext (phases: Phase[], before = phases): Moved {
  const isBusy = phases.some(({ status }) => status === 'running')
  const next = isBusy ? undefined : phases.find(({ status }) => status === 'pending')?.id
  const after = phases.map((phase) => phase.id === next ? { ...phase, status: 'running' as const } : phase)
  return { phases: after, changed: after.filter(({ status }, at) => status !== before[at].status) }
}

/** What the phases are once the run is over: what nobody reported is as the run itself, what it never reached was skipped. */
export function endPhases (phases: Phase[], completed: boolean): Moved {
  const after = phases.map((phase) => {
    if (completed && (phase.status === 'running' || phase.status === 'pending')) return { ...phase, status: 'completed' as const }
    if (phase.status === 'running') return { ...phase, status: 'failed' as const }
    return phase.status === 'pending' ? { ...phase, status: 'skipped' as const } : phase
  })
  return { phases: after, changed: after.filter(({ status }, at) => status !== phases[at].status) }
}
