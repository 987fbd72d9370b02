import { isObject } from '../lib/json.ts'
import type { RunEvent } from '../contracts/run-events.ts'
import { aboutOf, type FileChange, type ProvenEffect, type Tool, type ToolEffect } from '../contracts/tool.ts'
import { isOutcomeUnknown, PHASE_TOOL } from '../contracts/model-texts.ts'

/** The recorded facts of one tool call of a run. */
export interface CallFact {
  id: string
  tool: string
  input: unknown
  /** `unknown`: the call began, and nobody knows whether it had its effect. */
  status: 'completed' | 'error' | 'denied' | 'unknown'
  output?: Record<string, unknown>
  error?: string
  /** The effects that the call might have had. Absent for calls that only read and for tools that never existed. */
  proves?: ProvenEffect
  target?: string
  /** The files that the call changed. */
  changes: FileChange[]
  /** The records show that the call changed no file; see CallLeft. */
  hasChangedNothing?: boolean
  /** The declared effect of the tool; absent if the tool no longer exists. */
  effect?: ToolEffect
  /** True if the call ran a command line. */
  isCommand?: boolean
  /** The working folder of a local command, as the input gives it; absent for all other calls. */
  folder?: string
}

/** Finds a tool by its present name. A tool of a server that is not connected is not found. */
export type FindTool = (name: string) => Tool | undefined

/** Collects the facts about the tool calls of a run, in their order. A call without an outcome gets the status `unknown`. */
export function callFacts (events: readonly RunEvent[], find: FindTool, cwd: string): CallFact[] {
  const calls = new Map<string, CallFact>()
  for (const event of events) {
    switch (event.type) {
      case 'tool-input':
        calls.set(event.toolCallId, { ...begun(event, find, cwd), status: 'unknown' })
        break
      case 'tool-input-error': {
        const { proves, ...call } = begun(event, find, cwd)
        // A call of a tool that does not exist does not count as an attempt at an effect.
        const attempted = find(event.toolName) === undefined ? {} : { proves }
        calls.set(event.toolCallId, { ...call, ...attempted, status: 'error', error: event.errorText })
        break
      }
      case 'tool-output':
        settle(event, {
          status: 'completed',
          output: event.output,
          changes: event.changes ?? [],
          hasChangedNothing: event.changes?.length === 0
        })
        break
      case 'tool-error':
        settle(event, {
          status: isOutcomeUnknown(event.errorText) ? 'unknown' : 'error',
          error: event.errorText,
          changes: event.changes ?? []
        })
        break
      case 'tool-denied':
        settle(event, { status: 'denied', error: event.reason })
        break
      default:
        // Other events do not belong to a call.
    }
  }
  return [...calls.values()]

  function settle ({ toolCallId }: { toolCallId: string }, outcome: Partial<CallFact>) {
    const call = calls.get(toolCallId)
    if (call !== undefined) Object.assign(call, outcome)
  }
}

function begun (
  { toolCallId, toolName, input }: { toolCallId: string, toolName: string, input: unknown },
  find: FindTool,
  cwd: string
): Omit<CallFact, 'status'> {
  const tool = find(toolName)
  const isRead = tool?.policy.effect === 'read'
  const proves = tool?.effects?.proves ?? (isRead ? undefined : 'any')
  return {
    id: toolCallId,
    tool: toolName,
    input,
    changes: [],
    proves,
    effect: tool?.policy.effect,
    isCommand: tool?.effects?.command !== undefined,
    target: aboutOf(tool, input),
    folder: tool?.effects?.command && (tool.effects.command(isObject(input) ? input : {}).folder ?? cwd)
  }
}

/**
 * True if a run might have changed something: it has a call with an effect beyond reading that was completed or has an unknown
 * outcome. Calls of files tools and commands in a box (a sandbox) that changed nothing do not count, and neither do messages to the user.
 */
export const mayHaveChanged = (events: readonly RunEvent[], find: FindTool, cwd: string): boolean =>
  callFacts(events, find, cwd).some((call) => call.tool !== PHASE_TOOL && call.effect !== 'read' && canHaveChanged(call, find))

/** True if one call might have changed something. */
export function canHaveChanged ({ tool, status, proves, changes, hasChangedNothing }: CallFact, find: FindTool): boolean {
  if (proves === undefined || status === 'denied' || hasChangedNothing) return false
  if (changes.some(({ before, after }) => before !== after) || status === 'unknown') return true
  return status === 'completed' && find(tool)?.effects?.files === undefined
}
