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
  /** The run that made the call; unknown for messages of other clients. */
  runId?: string
  run: RunState
}

/** A tool call in one line that can be expanded. */
export function CallRow ({ part, name, runId, run }: Props) {
  const call = callOf(part, name)
  // A message does not distinguish a denied call from a failed one, nor a call that never began from one that was interrupted.
  const isDoubtful = call.status === 'error' || call.status === 'pending'
  const isRead = run === 'over' && isDoubtful && runId !== undefined
  const { data, isError } = useQuery({
    queryKey: keys.run(runId ?? ''),
    queryFn: () => getRun({ ...asked(), path: { runId: runId! } }).then(body),
    enabled: isRead
  })
  const recorded = data?.toolCalls.find(({ toolCallId }) => toolCallId === call.toolCallId)
  const { status, begun = isDoubtful && runId === undefined && part.state !== 'approval-requested' } = recorded ?? call
  // Between a decision and the stream of the continued run, only the service knows that the run is not over.
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
      // The stream of a run that is read again holds the outcome of an earlier approval without its request.
      return { ...call, status: 'denied', error: (part.approval as { reason?: string } | undefined)?.reason }
    default:
      return { ...call, status: 'pending' }
  }
}
