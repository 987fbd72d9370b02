import type { Protocol } from '../../../schemas/agent.ts'
import type { RunEvent } from '../run-events.ts'
import { renderDocumented } from './documented.ts'
import { renderUI } from './ui.ts'
import { renderUI5 } from './ui5.ts'

/** A way to write a run's events as Server-Sent Events. */
export interface Encoder {
  headers: Record<string, string>
  /** The same events, as an object, are rendered once, however many read them. */
  render(events: readonly RunEvent[]): string | Buffer
  /** What follows the last event. */
  end: string
}

/** https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol */
const uiStream = { headers: { 'x-vercel-ai-ui-message-stream': 'v1' }, end: 'data: [DONE]\n\n' }

/** A text beyond this is kept as bytes: those can be sent to many without a copy for each. */
const LARGE = 16 * 1024

function once (render: (events: readonly RunEvent[]) => string): Encoder['render'] {
  const rendered = new WeakMap<readonly RunEvent[], string | Buffer>()
  return (events) => {
    let chunk = rendered.get(events)
    if (chunk === undefined) {
      const text = render(events)
      chunk = text.length > LARGE ? Buffer.from(text) : text
      rendered.set(events, chunk)
    }
    return chunk
  }
}

const DIALECTS: Record<Protocol, Encoder> = {
  documented: { headers: {}, render: once(renderDocumented), end: '' },
  ui: { ...uiStream, render: once(renderUI) },
  ui5: { ...uiStream, render: once(renderUI5) }
}

export const encoderFor = (protocol: Protocol): Encoder => DIALECTS[protocol]

/** How a request without a `protocol` is answered: in the chat clients' own when its messages are theirs, which have `parts`. */
export function protocolOf (messages: ReadonlyArray<object>): Protocol {
  return messages.some((message) => 'parts' in message) ? 'ui' : 'documented'
}
