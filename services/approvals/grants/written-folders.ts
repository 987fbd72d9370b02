import { dirname } from 'node:path'
import type { RunEvent } from '../../contracts/run-events.ts'
import type { Tool } from '../../contracts/tool.ts'
import { isOutcomeUnknown } from '../../contracts/model-texts.ts'
import { isBelow } from './file-place.ts'

type Find = (name: string) => Pick<Tool, 'effect' | 'reportsChanges' | 'isConversational'> | undefined

/**
 * Whether a run has written in the folder or below it, or may have: a tool reported a change there, or a tool ran that can change
 * files unreported, such as a command, or whose call was cut off. Calls that a grant covered count only by the changes that they reported.
 */
export function mayHaveWritten (folder: string, events: readonly RunEvent[], find: Find): boolean {
  const granted = new Set<string>()
  for (const event of events) if (event.type === 'tool-intent' && event.grantId !== undefined) granted.add(event.toolCallId)
  return events.some((event) => {
    if (event.type !== 'tool-output' && event.type !== 'tool-error') return false
    if (event.type === 'tool-error' && isOutcomeUnknown(event.errorText) && find(event.toolName)?.effect !== 'read') return true
    if (event.changes?.some(({ path }) => isBelow(folder, { folder: dirname(path) }))) return true
    return !granted.has(event.toolCallId) && mayWriteUnreported(find(event.toolName))
  })
}

/** A tool that is not there any more may have been any. */
function mayWriteUnreported (tool: ReturnType<Find>): boolean {
  if (tool === undefined) return true
  return tool.effect !== 'read' && !tool.reportsChanges && !tool.isConversational
}
