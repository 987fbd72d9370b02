import type { IncomingMessage, ServerResponse } from 'node:http'
import { startSite } from './site.ts'

/** A call that the server must answer. */
export interface HttpCall {
  id: number
  input: any
  req: IncomingMessage
  res: ServerResponse
  /** Answers with one JSON document. */
  answer (result: object): void
}
type Tool = (call: HttpCall) => unknown

const text = (value: string) => ({ content: [{ type: 'text', text: value }] })
const json = (res: ServerResponse, body: unknown, headers = {}) =>
  res.writeHead(200, { 'content-type': 'application/json', ...headers }).end(typeof body === 'string' ? body : JSON.stringify(body))
const stream = (res: ServerResponse) => res.writeHead(200, { 'content-type': 'text/event-stream' })
const event = (message: object, id?: string) =>
  `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`

/** Writes without end, until the other side disconnects. */
function flood (res: ServerResponse, piece: string) {
  const more = () => {
    if (res.destroyed) return
    while (res.write(piece));
    res.once('drain', more)
  }
  more()
}

/**
 * Starts a hand-written tool server over HTTP that breaks rules of the protocol: each tool misbehaves as its name says. `tools` and `pages`
 * are added to its own.
 */
export async function startOddServer (
  t: { teardown(handler: () => unknown): unknown },
  { tools = {}, pages = {}, initialize, refuse }: {
    tools?: Record<string, Tool>,
    pages?: Record<string, any>,
    initialize?: Tool,
    /** Answers every message. */
    refuse?: Tool
  } = {}
) {
  const seen: Array<{ method: string, headers: IncomingMessage['headers'], body: any, closed: Promise<unknown> }> = []
  const resumed = new Map<string, (res: ServerResponse) => unknown>()
  const known: Record<string, Tool> = {
    echo: ({ input, answer }) => answer(text(String(input.message))),
    hang: () => {},
    big: ({ input, answer }) => answer(text('x'.repeat(input.bytes))),
    deep: ({ id, res }) => json(res, `{"jsonrpc":"2.0","id":${id},"result":{"content":[${'['.repeat(5000)}${']'.repeat(5000)}]}}`),
    deepEvent: ({ id, res }) =>
      stream(res).end(`data: {"jsonrpc":"2.0","id":${id},"result":{"content":[${'['.repeat(5000)}${']'.repeat(5000)}]}}\n\n`),
    poison: ({ id, res }) =>
      json(res, `{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":{"a":1,"__proto__":{"polluted":true}}}}`),
    chatter: ({ id, res }) =>
      stream(res).end(
        `\ufeff: hello\r\ndata: not JSON\r\r\ndata: []\n\nfoo: bar\nevent: other\ndata: {}\n\n${event({ id: 999_999, result: {} })}` +
          `${event({ method: 'notifications/unheard' })}retry: 5\n\n${event({ id, result: text('heard anyway') })}`
      ),
    floodJson: ({ res }) => {
      res.writeHead(200, { 'content-type': 'application/json' })
      flood(res, 'x'.repeat(65_536))
    },
    floodEvent: ({ res }) => flood(stream(res), 'x'.repeat(65_536)),
    floodEvents: ({ res }) => flood(stream(res), event({ method: 'notifications/x', params: { x: 'x'.repeat(1_000_000) } })),
    floodError: ({ res }) => {
      res.writeHead(500)
      flood(res, 'broken '.repeat(10_000))
    },
    cut: ({ res }) => {
      stream(res).write(': wait\n\n', () => res.destroy())
    },
    ended: ({ res }) => stream(res).end(),
    resumed: ({ id, res }) => {
      resumed.set('e1', (again) => stream(again).end(event({ id, result: text('resumed') }, 'e2')))
      stream(res).write('id: e1\nretry: 10\ndata: \n\n', () => res.destroy())
    },
    unresumed: ({ res }) => {
      resumed.set('e9', (again) => again.writeHead(405).end())
      stream(res).write('id: e9\nretry: 1\ndata: \n\n', () => res.destroy())
    },
    page: ({ res }) => res.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Log in</h1>'),
    nothing: ({ res }) => res.writeHead(202).end(),
    foreign: ({ res }) => json(res, { jsonrpc: '2.0', id: 999_999, result: text('not yours') }),
    notJson: ({ res }) => json(res, '{"half":'),
    hugeHeaders: ({ res, id }) => json(res, { jsonrpc: '2.0', id, result: text('x') }, { 'x-huge': 'x'.repeat(100_000) }),
    zipped: ({ res, id }) => json(res, { jsonrpc: '2.0', id, result: text('x') }, { 'content-encoding': 'gzip' }),
    reveal: ({ req, res }) => res.writeHead(500).end(`you sent ${req.headers.authorization}`),
    revealed: ({ req, answer }) => answer(text(`you sent ${req.headers.authorization}`)),
    askForever: ({ res }) => {
      stream(res)
      for (let id = 0; id < 1_000; id++) res.write(event({ id, method: 'ping' }))
    },
    reset: ({ res }) => res.destroy(),
    ...tools
  }

  async function answerMessage (req: IncomingMessage, res: ServerResponse, { id, method, params }: any) {
    const answer = (result: object) => {
      json(res, { jsonrpc: '2.0', id, result })
    }
    if (refuse !== undefined) return refuse({ id, input: params, req, res, answer })
    if (method === 'initialize') {
      if (initialize !== undefined) return initialize({ id, input: params, req, res, answer })
      return answer({
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'odd', version: '1' }
      })
    }
    if (method === 'ping') return answer({})
    if (method === 'tools/list') return answer({ tools: Object.keys(known).map((name) => ({ name, inputSchema: { type: 'object' } })) })
    if (method === 'tools/call') return known[params.name]({ id, input: params.arguments, req, res, answer })
    if (method === undefined) return undefined
    return res.writeHead(202).end()
  }

  const site = await startSite(t, {
    ...pages,
    '/mcp': (req: IncomingMessage, res: ServerResponse) => {
      const { body } = site.requests.at(-1)!
      const message = body === '' ? undefined : JSON.parse(body)
      seen.push({ method: req.method!, headers: req.headers, body: message, closed: new Promise((resolve) => res.once('close', resolve)) })
      if (req.method === 'POST') return answerMessage(req, res, message)
      const resume = resumed.get(String(req.headers['last-event-id']))
      return resume === undefined ? res.writeHead(405).end() : resume(res)
    }
  })
  return {
    ...site,
    url: `${site.url}/mcp`,
    /** The exchanges, oldest first. */
    seen,
    /** Resolves to the exchange of a call when the call has arrived. */
    async called (tool: string) {
      for (;;) {
        const found = seen.findLast(({ body }) => body?.params?.name === tool)
        if (found !== undefined) return found
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    }
  }
}
