import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'

export interface SiteRequest {
  path: string
  headers: IncomingMessage['headers']
  method: string
  body: string
  from: string
}

type Answer = string | Buffer | ((req: IncomingMessage, res: ServerResponse) => unknown)

/** Starts a web server on a free local port with the given pages by path; other paths get 404. A text is served as HTML. */
export async function startSite (
  t: { teardown(handler: () => unknown): unknown },
  pages: Record<string, Answer> = {},
  { tls, host = '127.0.0.1', port = 0 }: { tls?: { key: string, cert: string }, host?: string, port?: number } = {}
) {
  const requests: SiteRequest[] = []
  const sockets = new Set<Socket>()
  const listener: RequestListener = async (req, res) => {
    let body = ''
    for await (const piece of req) body += piece
    requests.push({ path: req.url!, headers: req.headers, method: req.method!, body, from: req.socket.localAddress! })
    const page = pages[req.url!] ?? pages[new URL(req.url!, 'http://x').pathname]
    if (page === undefined) res.writeHead(404, { 'content-type': 'text/plain' }).end('nothing here')
    else if (typeof page === 'function') await page(req, res)
    else res.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page)
  }
  const server = tls ? createTlsServer(tls, listener) : createServer(listener)
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).once('close', () => sockets.delete(socket))
  })
  server.listen(port, host)
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    for (const socket of sockets) socket.destroy()
    return new Promise((resolve) => server.close(resolve))
  })
  const bound = (server.address() as AddressInfo).port
  return {
    url: `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    port: bound,
    server,
    requests,
    /** The open connections. */
    sockets,
    /** Resolves when no connection is open. */
    async quiet () {
      while (sockets.size > 0) await new Promise((resolve) => [...sockets][0].once('close', resolve))
    }
  }
}

/** Returns a page that responds with a body of the given media type. */
export const as =
  (
    type: string | undefined,
    body: string | Buffer,
    { status = 200, headers = {} }: { status?: number, headers?: Record<string, string> } = {}
  ) =>
    (_req: IncomingMessage, res: ServerResponse) => {
      res.writeHead(status, { ...type !== undefined && { 'content-type': type }, ...headers }).end(body)
    }

export const redirect = (location: string, status = 302) => as(undefined, '', { status, headers: { location } })
