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

/** The dialect asked for; without one, the chat clients' own when the messages are theirs, which have `parts`. */
export function chooseDialect (protocol?: Protocol, messages: ReadonlyArray<{ parts?: unknown }> = []): Dialect {
  return DIALECTS[protocol ?? (messages.some(({ parts }) => parts !== undefined) ? 'ui' : 'documented')]
}
