import type { AskedCall } from '../contracts/call.ts'
import { boundTo } from './approved-folder.ts'
import type { ItemRequest } from './ledger.ts'

/** Returns the item with which a call waits in the ledger, apart from whose it is. */
export function itemOfCall (call: AskedCall, place: { runId: string, segment: number }): ItemRequest {
  const { toolCallId, toolName, input } = call
  switch (call.kind) {
    case 'tool': {
      const { folder, identity, reason, scopes, places } = call
      return {
        ...{ kind: 'tool', ...place, toolCallId, toolName, input, ...boundTo(folder), identity, scopes, places },
        ...(reason !== undefined && { note: reason })
      }
    }
    case 'question':
      return { kind: 'question', ...place, toolCallId, questions: (input as { questions: [] }).questions }
    case 'app': {
      const { app, ms } = call
      return { kind: 'app', ...place, toolCallId, toolName, input, ...(app !== undefined && { app }), ...(ms !== undefined && { ms }) }
    }
  }
}
