import type { Phase } from '../../../schemas/tasks.ts'
import type { ToolHost } from '../../tools/host.ts'
import { createValidator } from '../../tools/input-validator.ts'
import { createPhaseTool, PHASE_TOOL } from './phases.ts'

/** The tools of one run: the host's, and the run's own tool that reports its phases, which needs no approval and no host. */
export function createTaskTools (host: ToolHost, phases: () => Phase[]) {
  const invalid = createValidator()
  let moved: Phase[] | undefined
  const phaseTool = createPhaseTool({
    phases: () => moved ?? phases(),
    move (change) {
      moved = change.phases
    }
  })
  const isOwn = (name: string) => name === PHASE_TOOL

  return {
    ...host,
    /** The phases as the run has reported them; undefined as long as it has reported none. */
    movedPhases: () => moved,
    offered: () => [...host.offered().filter(({ name }) => !isOwn(name)), phaseTool],
    find: (name: string) => isOwn(name) ? phaseTool : host.find(name),
    permission: (name: string) => isOwn(name) ? 'allow' as const : host.permission(name),
    identity: (name: string) => isOwn(name) ? undefined : host.identity(name),
    validate (name: string, input: unknown): ReturnType<ToolHost['validate']> {
      if (!isOwn(name)) return host.validate(name, input)
      const error = invalid(phaseTool, input)
      return error === undefined ? { ok: true, input } : { ok: false, error }
    },
    async execute (call: Parameters<ToolHost['execute']>[0]): ReturnType<ToolHost['execute']> {
      if (!isOwn(call.name)) return host.execute(call)
      const { input, runId, callId, cwd, signal } = call
      try {
        const output = await phaseTool.execute(input as never, { signal, runId, callId, cwd, givenCwd: cwd })
        return { status: 'complete', output, durationMs: 0 }
      } catch (error) {
        return { status: 'error', errorText: (error as Error).message, durationMs: 0 }
      }
    }
  }
}
