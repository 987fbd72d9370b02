import type { TaskToolCall } from '../../../../client/generated/index.ts'
import { ToolCall } from '../../../parts/tool-call.tsx'
import type { CallPart } from './rows.ts'

/** A call of a tool in one line that opens. */
export function CallRow ({ part, name, isLive }: { part: CallPart, name: string, isLive: boolean }) {
  return <ToolCall call={callOf(part, name)} isLive={isLive} />
}

function callOf (part: CallPart, tool: string): TaskToolCall {
  const call = { id: part.toolCallId, tool, input: part.input }
  switch (part.state) {
    case 'output-available':
      return { ...call, status: 'complete', output: part.output }
    case 'output-error':
      return { ...call, status: 'error', error: part.errorText }
    case 'output-denied':
      return { ...call, status: 'denied', error: part.approval.reason }
    default:
      return { ...call, status: 'pending' }
  }
}
