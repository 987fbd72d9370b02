import type { RunEvent } from '../../contracts/run-events.ts'
import { requestData } from '../run-log/ui-message.ts'
import { eventLine } from './event-line.ts'
import { renderChunk } from './ui.ts'

/**
 * Renders the UI message stream for clients of version 5, which know no approvals: an approval request is a data part, to be
 * answered with `POST /run/approve`, and a denial is a tool error.
 */
export function renderUI5 (events: readonly RunEvent[]): string {
  let text = ''
  for (const event of events) text += renderChunk5(event)
  return text
}

function renderChunk5 (event: RunEvent): string {
  switch (event.type) {
    // With the id, a request that is sent again replaces its earlier part.
    case 'approval-request':
      return eventLine({
        type: 'data-approval-request',
        id: event.approvalId,
        data: requestData(event)
      })
    case 'tool-denied':
      return eventLine({ type: 'tool-output-error', toolCallId: event.toolCallId, errorText: event.reason })
    // Clients before 5.0.7 do not know `tool-input-error`.
    case 'tool-input-error': {
      const { toolCallId, errorText } = event
      return renderChunk({ ...event, type: 'tool-input' }) + eventLine({ type: 'tool-output-error', toolCallId, errorText })
    }
    default:
      return renderChunk(event)
  }
}
