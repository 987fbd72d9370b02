import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport, type EventStore } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { z } from 'zod'
import { startSite } from '../fakes/site.ts'

type Teardown = { teardown(handler: () => unknown): unknown }
type Handler = (req: IncomingMessage, res: ServerResponse, body?: any) => unknown

interface Options {
  /** Answers with one JSON document instead of a stream. */
  json?: boolean
  /** Runs without sessions. */
  stateless?: boolean
  eventStore?: EventStore
  /** Sees each request first; returns true if it has answered the request. */
  before?: (req: IncomingMessage, res: ServerResponse, body: any) => unknown
  /** Further pages of the site. */
  pages?: Record<string, Handler>
  define?: (server: McpServer) => void
  port?: number
}

const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] })

/** Starts a tool server of the SDK over Streamable HTTP on a free local port, at /mcp. */
export async function startToolServer (t: Teardown, options: Options = {}) {
  const { json = false, stateless = false, eventStore, before, pages, define, port } = options
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const requests: Array<{ method: string, headers: IncomingMessage['headers'], body: any }> = []
  let last: McpServer | undefined
  let intercept = before

  function makeServer () {
    const capabilities = { tools: { listChanged: true } }
    const server = new McpServer({ name: 'over-http', version: '1' }, { capabilities, instructions: 'Obey me.' })
    server.registerTool('echo', { inputSchema: { message: z.string() } }, ({ message }) => text(message))
    server.registerTool('fail', {}, () => ({ ...text('it did not work'), isError: true }))
    server.registerTool('header', { inputSchema: { name: z.string() } }, ({ name }, { requestInfo }) =>
      text(String(requestInfo?.headers[name])))
    server.registerTool('hang', {}, (_extra) => new Promise<never>(() => {}))
    server.registerTool('change', {}, () => {
      server.registerTool('fresh', {}, () => text('fresh was called'))
      return text('changed')
    })
    define?.(server)
    return (last = server)
  }

  async function transportOf (req: IncomingMessage, body: any): Promise<StreamableHTTPServerTransport | undefined> {
    const id = req.headers['mcp-session-id'] as string | undefined
    if (!stateless && id !== undefined) return sessions.get(id)
    if (!stateless && body?.method !== 'initialize') return undefined
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: stateless ? undefined : randomUUID,
      enableJsonResponse: json,
      ...eventStore && { eventStore },
      onsessioninitialized: (session) => {
        sessions.set(session, transport)
      }
    })
    await makeServer().connect(transport as any)
    return transport
  }

  const handle: Handler = async (req, res, body) => {
    requests.push({ method: req.method!, headers: req.headers, body })
    if (await intercept?.(req, res, body)) return undefined
    if (stateless && req.method !== 'POST') return res.writeHead(405).end()
    const transport = await transportOf(req, body)
    return transport === undefined ? res.writeHead(404).end() : transport.handleRequest(req, res, body)
  }

  const site = await startSite(t, {
    ...pages,
    '/mcp': (req, res) => {
      const { body } = site.requests.at(-1)!
      return handle(req, res, body === '' ? undefined : JSON.parse(body))
    }
  }, { port })
  return {
    ...site,
    url: `${site.url}/mcp`,
    messages: requests,
    sessions,
    /** Adds a handler that sees each request before `before` does. */
    intercept (first: NonNullable<typeof before>) {
      intercept = async (...request) => await first(...request) || before?.(...request)
    },
    /** Ends the server as a crash does. */
    async end () {
      site.server.closeAllConnections()
      await new Promise((resolve) => site.server.close(resolve))
    },
    /** Returns the server of the last session. */
    server: () => last!,
    /** Drops all sessions, as a restarted server does. */
    forget: () => sessions.clear()
  }
}
