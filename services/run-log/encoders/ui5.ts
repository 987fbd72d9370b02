import type { RunEvent } from '../run-events.ts'
import { requestData } from '../ui-message.ts'
import { eventLine } from './event-line.ts'
import { renderChunk } from './ui.ts'

/**
 * The UI message stream for clients of version 5, which have no approvals: a request for one is a data part of the
 * message, to be answered with `POST /run/approve`, and a denial is a tool's error.
 */
export function renderUI5 (events: readonly RunEvent[]): string {
  let text = ''
  for (const event of events) text += renderChunk5(event)
  return text
}

function renderChunk5 (event: RunEvent): string {
  switch (event.type) {
    // The id lets a request that is asked again replace itself.
    case 'approval-request':
      return eventLine({
        type: 'data-approval-request',
        id: event.approvalId,
        data: requestData(event)
      })
    case 'tool-denied':
      return eventLine({ type: 'tool-output-error', toolCallId: event.toolCallId, errorText: event.reason })
    // `tool-input-error` came with 5.0.7.
    case 'tool-input-error': {
      const { toolCallId, errorText } = event
      return renderChunk({ ...event, type: 'tool-input' }) + eventLine({ type: 'tool-output-error', toolCallId, errorText })
    }
    default:
      return renderChunk(event)
  }
}
