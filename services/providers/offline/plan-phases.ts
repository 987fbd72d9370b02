import type { LanguageModelV4CallOptions, LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { Reply } from './model.ts'
import { callsMade, type MadeCall } from './prompt.ts'
import type { Step } from './split.ts'

const TOOL = 'updatePhase'

/**
 * Separates the calls made so far from the calls of updatePhase, and collects the updates to make next. A phase is
 * complete when its command is; this needs a plan with one phase per command, otherwise nothing is updated.
 */
export function phasesOf (prompt: LanguageModelV4Prompt, tools: NonNullable<LanguageModelV4CallOptions['tools']>, steps: Step[]) {
  const all = callsMade(prompt)
  const reported = new Set(all.flatMap(({ toolName, input }) => toolName === TOOL ? [(input as { phase?: string }).phase] : []))
  const commands = steps.filter(({ kind }) => kind === 'command').length
  const ids = tools.some(({ name }) => name === TOOL) ? idsIn(prompt) : []
  const phases = ids.length === commands ? ids : []
  const due: NonNullable<Reply['toolCalls']> = []
  let at = 0

  return {
    made: all.filter(({ toolName }) => toolName !== TOOL),
    report: {
      /** Marks the next phase as complete; `call` is the call of its command, if one was made. */
      complete (call?: MadeCall) {
        const phase = phases[at++]
        if (phase !== undefined && !reported.has(phase)) due.push({ toolName: TOOL, input: { phase, status: statusOf(call) } })
      },
      calls: () => due
    }
  }
}

function idsIn (prompt: LanguageModelV4Prompt): string[] {
  const system = prompt.find(({ role }) => role === 'system')
  return typeof system?.content === 'string' ? [...system.content.matchAll(/^- (phase-\d+) \(/gm)].map(([, id]) => id) : []
}

function statusOf (call?: MadeCall) {
  if (call?.output === undefined) return 'failed'
  return call.output.type === 'execution-denied' ? 'skipped' : call.output.type.startsWith('error') ? 'failed' : 'completed'
}
