import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { build } from './helper.ts'
import { hastyClock } from './clock.ts'

/** A server's response: its body, status and content type. */
export interface RawReply {
  body: string
  status?: number
  type?: string
}

/** The building blocks of an API's answers, as a server writes them. */
export interface SloppyWire {
  name: string
  /** The id of the model. */
  model: string
  config(url: string): object
  text(text: string): string
  /** A complete call. */
  call(name: string, input: object, id: string): string
  /** An answer with this text as one JSON document, although a stream was requested. */
  document(text: string): object
  /** The end of an answer, with the API's reason or without one. */
  end(reason: string | undefined): string
  /** Events without content, in forms that none of the SDK's readers accept. */
  noise: string
  reasons: { stop: string, calls: string }
  /** Returns the results of calls in a request. */
  results(body: any): string[]
}

const sse = (...values: object[]) => values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join('')
export const DONE = 'data: [DONE]\n\n'
const direct = (kind: string) => (url: string) => ({ providers: { p: { kind, baseURL: `${url}/v1`, apiKey: 'a-key', models: ['m'] } } })
const chunk = (delta: object, reason?: string) => ({ choices: [{ index: 0, delta, finish_reason: reason ?? null }] })
const flat = (value: any): any[] => Array.isArray(value) ? value.flatMap(flat) : [value]
const jsonOf = (value: unknown) => JSON.stringify(value ?? '')

export const SLOPPY_WIRES: SloppyWire[] = [
  {
    name: 'chat completions',
    model: 'p/m',
    config: direct('openai-compatible'),
    text: (text) => sse(chunk({ content: text })),
    call: (name, input, id) => sse(chunk({ tool_calls: [{ index: 0, id, function: { name, arguments: JSON.stringify(input) } }] })),
    document: (text) => ({ choices: [{ message: { content: text } }] }),
    end: (reason) => reason === undefined ? '' : sse(chunk({}, reason)),
    noise: sse({ choices: null }, { id: 7, created: 'now', choices: [], usage: { prompt_tokens: 'many' } }, chunk({ role: 'model' })),
    reasons: { stop: 'stop', calls: 'tool_calls' },
    results: (body) => body.messages.filter(({ role }: any) => role === 'tool').map(({ content }: any) => jsonOf(content))
  },
  {
    name: 'Responses',
    model: 'p/m',
    config: direct('openai'),
    text: (text) => sse({ type: 'response.output_text.delta', delta: text }),
    call: (name, input, id) =>
      sse({ type: 'response.output_item.done', item: { type: 'function_call', call_id: id, name, arguments: input } }),
    document: (text) => ({ output: [{ type: 'message', content: [{ type: 'output_text', text }] }] }),
    end: (reason) =>
      reason === undefined ? '' : sse({ type: 'response.completed', response: { status: reason, usage: { input_tokens: 'many' } } }),
    noise: sse({}, { type: 'response.created', response: { id: 7 } }, { type: 'response.output_item.added' }, { type: 'response.odd' }),
    reasons: { stop: 'completed', calls: 'completed' },
    results: (body) => body.input.filter(({ type }: any) => type === 'function_call_output').map(({ output }: any) => jsonOf(output))
  },
  {
    name: 'Anthropic',
    model: 'p/m',
    config: direct('anthropic'),
    text: (text) => sse({ type: 'content_block_delta', delta: { text } }),
    call: (name, input, id) =>
      sse({ type: 'content_block_start', content_block: { type: 'tool_use', id, name, input } }, { type: 'content_block_stop' }),
    document: (text) => ({ content: [{ type: 'text', text }] }),
    end: (reason) =>
      reason === undefined
        ? ''
        : sse({ type: 'message_delta', delta: { stop_reason: reason }, usage: { output_tokens: 'many' } }, { type: 'message_stop' }),
    noise: sse({}, { type: 'message_start', message: { id: 7, usage: null } }, { type: 'ping', odd: 1 }, { type: 'odd' }),
    reasons: { stop: 'end_turn', calls: 'tool_use' },
    results: (body) =>
      flat(body.messages.map((message: any) => message.content))
        .flatMap(({ type, content }) => type === 'tool_result' ? [jsonOf(content)] : [])
  },
  {
    name: 'Google',
    model: 'p/m',
    config: direct('google'),
    text: (text) => sse({ candidates: [{ content: { parts: [{ text }] } }] }),
    call: (name, input, id) => sse({ candidates: [{ content: { parts: [{ functionCall: { id, name, args: JSON.stringify(input) } }] } }] }),
    document: (text) => ({ candidates: [{ content: { parts: [{ text }] } }] }),
    end: (reason) => reason === undefined ? '' : sse({ candidates: [{ finishReason: reason }] }),
    noise: sse({}, { candidates: null, usageMetadata: { promptTokenCount: 'many' } }, { candidates: [{ safetyRatings: 7 }] }),
    reasons: { stop: 'STOP', calls: 'STOP' },
    results: (body) =>
      flat(body.contents.map(({ parts }: any) => parts)).flatMap(({ functionResponse: result }) => result ? [jsonOf(result)] : [])
  },
  {
    name: 'the gateway',
    model: 'test/model',
    config: (url) => ({ gateway: { baseURL: url } }),
    text: (text) => sse({ type: 'text-delta', delta: text }),
    call: (name, input, id) => sse({ type: 'tool-call', toolCallId: id, toolName: name, input }),
    document: (text) => ({ content: [{ type: 'text', text }] }),
    end: (reason) => reason === undefined ? '' : sse({ type: 'finish', finishReason: { unified: 'other', raw: reason } }),
    noise: sse({}, { type: 7 }, { type: 'odd' }, { type: 'response-metadata', id: 7 }),
    reasons: { stop: 'stop', calls: 'tool_calls' },
    results: (body) =>
      flat(body.prompt.map((message: any) => message.content)).flatMap(({ type, output }) => type === 'tool-result' ? [jsonOf(output)] : [])
  }
]

/**
 * Starts the service with a model server that writes the text of `reply` unchanged. `reply` gets the body of the n-th call, counted from 0;
 * `bodies` holds the bodies of all calls.
 */
export async function withSloppyServer (
  t: Parameters<typeof build>[0],
  wire: SloppyWire,
  reply: (nth: number, body: any) => RawReply,
  { config = {}, ...settings }: { config?: object, cwd?: string } = {}
) {
  const bodies: any[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const piece of request) text += piece
    if (request.method !== 'POST') return void response.writeHead(404).end()
    bodies.push(JSON.parse(text))
    const { body, status = 200, type = 'text/event-stream' } = reply(bodies.length - 1, bodies.at(-1))
    response.writeHead(status, { 'content-type': type }).end(body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const whole = { model: wire.model, analysis: false, threads: { titles: false }, ...wire.config(url), ...config }
  const gatewayKey = wire.name === 'the gateway' && { gatewayKey: 'a-key' }
  const app = await build(t, { config: whole, clock: hastyClock(), ...gatewayKey, ...settings })
  return { app, bodies }
}
