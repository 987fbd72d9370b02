import { useQuery } from '@tanstack/react-query'
import { getRun, type Run, type TaskToolCall } from '../../../../client/generated/index.ts'
import type { RunState } from '../../../parts/call/outcome.ts'
import { keys } from '../../../lib/queries.ts'
import { asked, body } from '../../../lib/service.ts'
import { ToolCall } from '../../../parts/tool-call.tsx'
import type { CallPart } from './rows.ts'

interface Props {
  part: CallPart
  name: string
  /** The run that made the call; messages of other clients do not tell. */
  runId?: string
  run: RunState
}

/** A call of a tool in one line that opens. */
export function CallRow ({ part, name, runId, run }: Props) {
  const call = callOf(part, name)
  // A message does not tell a refused call from a failed one, nor one that never began from one that was cut.
  const isDoubtful = call.status === 'error' || call.status === 'pending'
  const isRead = run === 'over' && isDoubtful && runId !== undefined
  const { data, isError } = useQuery({
    queryKey: keys.run(runId ?? ''),
    queryFn: () => getRun({ ...asked(), path: { runId: runId! } }).then(body),
    enabled: isRead
  })
  const recorded = data?.toolCalls.find(({ toolCallId }) => toolCallId === call.toolCallId)
  const { status, begun = isDoubtful && runId === undefined && part.state !== 'approval-requested' } = recorded ?? call
  // Between a decision and the stream of the run that goes on, only the service knows that the run is not over.
  const state = isRead && !isError ? stateOf(data?.status) : run
  return <ToolCall call={{ ...call, status, begun }} run={state} />
}

function stateOf (status: Run['status'] | undefined): RunState {
  if (status === undefined || status === 'queued' || status === 'running') return 'live'
  return status === 'pending_approval' ? 'waiting' : 'over'
}

function callOf (part: CallPart, toolName: string): TaskToolCall {
  const call = { toolCallId: part.toolCallId, toolName, input: part.input }
  switch (part.state) {
    case 'output-available':
      return { ...call, status: 'completed', output: part.output }
    case 'output-error':
      return { ...call, status: 'error', error: part.errorText }
    case 'output-denied':
      // A run that is read again tells the outcome of an earlier request without the request.
      return { ...call, status: 'denied', error: (part.approval as { reason?: string } | undefined)?.reason }
    default:
      return { ...call, status: 'pending' }
  }
}
