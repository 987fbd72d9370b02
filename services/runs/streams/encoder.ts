import type { Protocol } from '../../../schemas/agent.ts'
import { isHeld, type RunEvent } from '../../contracts/run-events.ts'
import { renderDocumented } from './documented.ts'
import { renderUI, renderUI5, renderUI7 } from './ui.ts'

/** Renders a run's events as Server-Sent Events of one protocol. */
export interface Encoder {
  headers: Record<string, string>
  /** Renders a batch. The result is cached by the identity of the array, so a shared batch is rendered once for all readers. */
  render(events: readonly RunEvent[]): string | Buffer
  /** The text after the last event. */
  end: string
}

/** https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol */
const uiStream = { headers: { 'x-vercel-ai-ui-message-stream': 'v1' }, end: 'data: [DONE]\n\n' }

/** A rendered text longer than this (characters) is kept as bytes, which can be sent to many readers without a copy for each. */
const LARGE = 16 * 1024

function once (render: (event: RunEvent) => string): Encoder['render'] {
  const rendered = new WeakMap<readonly RunEvent[], string | Buffer>()
  return (events) => {
    let chunk = rendered.get(events)
    if (chunk === undefined) {
      let text = ''
      for (const event of events) if (!isHeld(event)) text += render(event)
      chunk = text.length > LARGE ? Buffer.from(text) : text
      rendered.set(events, chunk)
    }
    return chunk
  }
}

const ENCODERS: Record<Protocol, Encoder> = {
  documented: { headers: {}, render: once(renderDocumented), end: '' },
  ui: { ...uiStream, render: once(renderUI) },
  ui5: { ...uiStream, render: once(renderUI5) },
  ui7: { ...uiStream, render: once(renderUI7) }
}

export const encoderFor = (protocol: Protocol): Encoder => ENCODERS[protocol]

/** Returns the protocol for a request that names none: `ui` if a message has `parts`, as chat clients' messages do. */
export function protocolOf (messages: ReadonlyArray<object>): Protocol {
  return messages.some((message) => 'parts' in message) ? 'ui' : 'documented'
}
