import { isObject } from '../lib/json.ts'
import type { RunEvent } from '../contracts/run-events.ts'
import { aboutOf, type FileChange, type ProvenEffect, type Tool, type ToolEffect } from '../contracts/tool.ts'
import { isOutcomeUnknown, PHASE_TOOL } from '../contracts/model-texts.ts'

/** The recorded facts of one tool call of a run. */
export interface CallFact {
  id: string
  tool: string
  input: unknown
  /** unknown: the call began, and nobody knows whether it had its effect. */
  status: 'completed' | 'error' | 'denied' | 'unknown'
  output?: Record<string, unknown>
  error?: string
  /** The effects that the call may have had; absent for calls that only read and for tools that never existed. */
  proves?: ProvenEffect
  target?: string
  /** The files that the call changed. */
  changes: FileChange[]
  /** A command that is known to have changed nothing: see CallLeft. */
  hasChangedNothing?: boolean
  /** What the tool does to the world; absent if the tool does not exist any more. */
  effect?: ToolEffect
  /** True if the call ran a command line. */
  isCommand?: boolean
  /** The folder that a local command worked in, as it was given; absent for all other calls. */
  folder?: string
}

/** Finds a tool by its present name. The tool of a server that is not connected is not found. */
export type FindTool = (name: string) => Tool | undefined

/** Collects the tool calls of a run, in their order. A call without an outcome counts as unknown. */
export function callFacts (events: readonly RunEvent[], find: FindTool, cwd: string): CallFact[] {
  const calls = new Map<string, CallFact>()
  for (const event of events) {
    switch (event.type) {
      case 'tool-input':
        calls.set(event.toolCallId, { ...begun(event, find, cwd), status: 'unknown' })
        break
      case 'tool-input-error': {
        const { proves, ...call } = begun(event, find, cwd)
        // A call of a tool that does not exist is no attempt at an effect.
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
        // Other events are not about a call.
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
 * True if a run may have changed something: a call that does not only read was completed, or has an unknown outcome. Not counted are a call
 * of a files tool that left everything as it was, a command in a box that did so, and a message to the user.
 */
export const mayHaveChanged = (events: readonly RunEvent[], find: FindTool, cwd: string): boolean =>
  callFacts(events, find, cwd).some((call) => call.tool !== PHASE_TOOL && call.effect !== 'read' && canHaveChanged(call, find))

/** Returns the same for one call. */
export function canHaveChanged ({ tool, status, proves, changes, hasChangedNothing }: CallFact, find: FindTool): boolean {
  if (proves === undefined || status === 'denied' || hasChangedNothing) return false
  if (changes.some(({ before, after }) => before !== after) || status === 'unknown') return true
  return status === 'completed' && find(tool)?.effects?.files === undefined
}
