import type { Protocol } from '../../../schemas/agent.ts'
import { isHeld, type RunEvent } from '../../contracts/run-events.ts'
import { advance, eventIdOf, placesOf } from '../run-log/event-position.ts'
import { type Encode, eventLine } from './chunks.ts'
import { encodeDocumented } from './documented.ts'
import { encodeUI, encodeUI5, encodeUI7 } from './ui.ts'

/**
 * Renders the events of runs as Server-Sent Events (SSE) of one protocol, such as the AI SDK's UI stream. There is one encoder for each
 * protocol.
 */
export interface Encoder {
  headers: Record<string, string>
  /**
   * Renders a batch. The result is kept as a property of the array, so that a shared batch is rendered once for all readers of a protocol.
   */
  render(events: readonly RunEvent[]): string | Buffer
  /** The text after the last event. */
  end: string
}

/** https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol */
const uiStream = { headers: { 'x-vercel-ai-ui-message-stream': 'v1' }, end: 'data: [DONE]\n\n' }

/** A rendered text with more characters than this is kept as a buffer, which can be sent to many readers without copying it for each. */
const LARGE = 16 * 1024

/**
 * The newest rendering of a batch, kept with the batch. One is enough: most batches have one reader, and several readers usually have the
 * same protocol.
 */
interface Rendered { rendered?: { by: Encoder['render'], chunk: string | Buffer } }

/**
 * Returns the SSE lines of an event. `id` is the `id:` line, or ''. It is placed after the data, because some readers expect the data
 * first.
 */
type RenderEvent = (event: RunEvent, id: string) => string

function once (renderEvent: RenderEvent): Encoder['render'] {
  const render = (events: readonly RunEvent[] & Rendered) => {
    if (events.rendered?.by === render) return events.rendered.chunk
    const text = renderBatch(events, renderEvent)
    const chunk = text.length > LARGE ? Buffer.from(text) : text
    events.rendered = { by: render, chunk }
    return chunk
  }
  return render
}

function renderBatch (events: readonly RunEvent[], renderEvent: RenderEvent): string {
  const places = placesOf(events)
  const position = places && { ...places.begin }
  let text = ''
  for (const event of events) {
    if (position !== undefined) advance(position, event)
    if (!isHeld(event)) text += renderEvent(event, position === undefined ? '' : `id: ${eventIdOf(position)}\n`)
  }
  return text
}

/** Text deltas are by far the most frequent events, so their JSON is assembled by hand. Ids contain no characters that need escapes. */
const linesOf = (encode: Encode): RenderEvent => (event, id) => {
  if (event.type !== 'text-delta' || (event.providerMetadata && encode !== encodeDocumented)) {
    const lines = encode(event).map(eventLine).join('')
    return lines === '' ? '' : `${lines.slice(0, -1)}${id}\n`
  }
  const quoted = JSON.stringify(event.delta)
  const content = encode === encodeDocumented ? `,"content":${quoted}` : ''
  return `data: {"type":"text-delta","id":"${event.id}","delta":${quoted}${content}}\n${id}\n`
}

const ENCODERS: Record<Protocol, Encoder> = {
  documented: { headers: {}, render: once(linesOf(encodeDocumented)), end: '' },
  ui: { ...uiStream, render: once(linesOf(encodeUI)) },
  ui5: { ...uiStream, render: once(linesOf(encodeUI5)) },
  ui7: { ...uiStream, render: once(linesOf(encodeUI7)) }
}

export const encoderFor = (protocol: Protocol): Encoder => ENCODERS[protocol]

/** For each protocol, the encoding of the stream from which the message that chats show is made. */
export const CHAT_ENCODINGS: Record<Protocol, Encode> = { documented: encodeUI, ui: encodeUI, ui5: encodeUI5, ui7: encodeUI7 }

/** Returns the protocol for a request that names none: `ui` if a message has `parts`, as messages of chat clients do. */
export function protocolOf (messages: ReadonlyArray<object>): Protocol {
  return messages.some((message) => 'parts' in message) ? 'ui' : 'documented'
}
