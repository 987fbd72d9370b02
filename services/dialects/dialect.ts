import type { Protocol } from '../../schemas/agent.ts'
import type { RunEvent } from '../runlog/events.ts'
import { renderDocumented } from './documented.ts'
import { renderUI } from './ui.ts'
import { renderUI5 } from './ui5.ts'

/** A way to write a run's events as Server-Sent Events. */
export interface Dialect {
  headers: Record<string, string>
  render (events: readonly RunEvent[]): string
  /** What follows the last event. */
  end: string
}

/** https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol */
const uiStream = { headers: { 'x-vercel-ai-ui-message-stream': 'v1' }, end: 'data: [DONE]\n\n' }

const DIALECTS: Record<Protocol, Dialect> = {
  documented: { headers: {}, render: renderDocumented, end: '' },
  ui: { ...uiStream, render: renderUI },
  ui5: { ...uiStream, render: renderUI5 }
}

export const dialectOf = (protocol: Protocol): Dialect => DIALECTS[protocol]

/** How a request without a `protocol` is answered: in the chat clients' own when its messages are theirs, which have `parts`. */
export function protocolOf (messages: ReadonlyArray<object>): Protocol {
  return messages.some((message) => 'parts' in message) ? 'ui' : 'documented'
}
