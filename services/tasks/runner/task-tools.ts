import type { Phase } from '../../../schemas/tasks.ts'
import { createValidator, NOTHING_KEPT, type ToolHost } from '../../tools/index.ts'
import { offeredTools } from '../../runs/index.ts'
import { PHASE_TOOL } from '../../contracts/model-texts.ts'
import { createPhaseTool } from './phases.ts'

/**
 * The tools of one run: those of the host that need no user to talk to, askUser if the run may ask, and the phase tool, which needs
 * no approval and runs outside the host.
 */
export function createTaskTools (host: ToolHost, phases: () => Phase[], mayAsk: boolean) {
  const invalid = createValidator()
  const { tool: phaseTool, reported } = createPhaseTool(phases)
  const isOwn = (name: string) => name === PHASE_TOOL

  return {
    ...host,
    reportedPhases: reported,
    offered: () => [
      ...offeredTools(host.offered(), mayAsk).filter(({ name, isConversational }) => !isOwn(name) && !isConversational),
      phaseTool
    ],
    find: (name: string) => isOwn(name) ? phaseTool : host.find(name),
    permission: (name: string) => isOwn(name) ? 'allow' : host.permission(name),
    identity: (name: string) => isOwn(name) ? undefined : host.identity(name),
    validate (name: string, input: unknown): ReturnType<ToolHost['validate']> {
      const error = isOwn(name) ? invalid(phaseTool, input) : undefined
      return !isOwn(name) ? host.validate(name, input) : error === undefined ? { ok: true, input } : { ok: false, error }
    },
    keep: async (call: Parameters<ToolHost['keep']>[0]): ReturnType<ToolHost['keep']> => isOwn(call.name) ? NOTHING_KEPT : host.keep(call),
    async execute (call: Parameters<ToolHost['execute']>[0]): ReturnType<ToolHost['execute']> {
      if (!isOwn(call.name)) return host.execute(call)
      try {
        const output = await phaseTool.execute(call.input as never, { ...call, givenCwd: call.cwd })
        return { status: 'complete', output, durationMs: 0 }
      } catch (error) {
        return { status: 'error', errorText: (error as Error).message, durationMs: 0 }
      }
    }
  }
}
