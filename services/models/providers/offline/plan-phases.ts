import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import { callsMade, type MadeCall } from './prompt.ts'
import type { Step } from './split.ts'

const TOOL = 'updatePhase'

/**
 * Collects the updates of a task's phases that are due. A phase is complete when its command is; this needs a plan with one phase
 * per command, otherwise nothing is updated.
 */
export function phasesOf (prompt: LanguageModelV4Prompt, offered: Set<string>, steps: Step[]) {
  const listed = prompt.flatMap(({ role, content }) =>
    role === 'system' ? [...content.matchAll(/^- (phase-\d+)(?:: | \()/gm)].map(([, id]) => id) : []
  )
  const isOnePerCommand = offered.has(TOOL) && listed.length === steps.filter(({ kind }) => kind === 'command').length
  const phases = isOnePerCommand ? listed : []
  const reported = callsMade(prompt).flatMap(({ toolName, input }) => toolName === TOOL ? [(input as { phase?: string }).phase] : [])
  const updates: Array<{ toolName: string, input: unknown }> = []
  return {
    toolName: TOOL,
    updates,
    /** Marks the next phase as complete; `call` is the call of its command, if one was made. */
    complete (call?: MadeCall) {
      const phase = phases.shift()
      if (phase !== undefined && !reported.includes(phase)) updates.push({ toolName: TOOL, input: { phase, status: statusOf(call) } })
    }
  }
}

function statusOf (call?: MadeCall) {
  if (call?.output === undefined) return 'failed'
  return call.output.type === 'execution-denied' ? 'skipped' : call.output.type.startsWith('error') ? 'failed' : 'completed'
}
