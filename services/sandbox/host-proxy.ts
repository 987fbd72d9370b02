import type { LookupAddress } from 'node:dns'
import { createServer, request, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, type LookupFunction, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** Ports of a host that is named without one. */
const WEB_PORTS = [80, 443]
/** Connections that a command may have at once. */
const MOST_CONNECTIONS = 64
/** Milliseconds in which a connection must be made, and in which something must come or go. */
const CONNECT_MS = 15_000
const IDLE_MS = 120_000

/** Looks up the addresses of a host. Rejects for a host that may not be reached, with a sentence. */
export type LookUp = (url: URL) => Promise<LookupAddress[]>

/** Headers of one connection, and of this proxy. */
const CLOSE = /^(?:connection|keep-alive|proxy-.*|te|trailer|upgrade)$/i

/** Whether one of `hosts` (`host` or `host:port`) names this host and port. */
export function isNamed (hosts: readonly string[], host: string, port: number): boolean {
  const name = host.toLowerCase().replace(/\.$/, '')
  return hosts.some((each) => {
    const [named, only] = each.toLowerCase().split(':')
    return named === name && (only === undefined ? WEB_PORTS.includes(port) : Number(only) === port)
  })
}

/**
 * Starts the proxy of one command on a Unix socket: HTTP, and CONNECT for everything else. It reaches the named hosts and no others; names
 * are looked up here, at each connection. `close` ends it with its connections.
 */
export async function startHostProxy (path: string, hosts: readonly string[], lookUp: LookUp): Promise<{ close(): Promise<void> }> {
  const open = new Set<Duplex>()
  const keep = (stream: Duplex) => {
    open.add(stream.once('close', () => open.delete(stream)))
    stream.on('error', () => stream.destroy())
  }

  /** Returns what connects to the host; throws a sentence for the command where that may not be. */
  async function reach (url: URL): Promise<{ host: string, port: number, lookup: LookupFunction }> {
    const host = url.hostname.replace(/^\[|\]$/g, '')
    const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
    if (!isNamed(hosts, host, port)) {
      throw new Error(`${host}:${port} is not among the hosts that this command may reach: ${hosts.join(', ')}.`)
    }
    const addresses = await lookUp(url)
    return {
      host,
      port,
      lookup: (_host, { all }, done) => all ? done(null, addresses) : done(null, addresses[0].address, addresses[0].family)
    }
  }

  const server = createServer((incoming, response) => {
    void forward(incoming, response).catch((error: Error) => {
      if (response.headersSent) response.destroy()
      else response.writeHead(403, { 'content-type': 'text/plain', connection: 'close' }).end(`${error.message}\n`)
    })
  })
  server.maxConnections = MOST_CONNECTIONS
  server.on('connection', keep)
  server.on('connect', (incoming: IncomingMessage, client: Socket, head: Buffer) => {
    void tunnel(incoming, client, head).catch((error: Error) => {
      client.end(`HTTP/1.1 403 Forbidden\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n${error.message}\n`)
    })
  })

  const passedOn = (headers: IncomingHttpHeaders) => Object.fromEntries(Object.entries(headers).filter(([name]) => !CLOSE.test(name)))

  async function forward (incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(incoming.url ?? '')
    if (url.protocol !== 'http:') throw new Error('This proxy takes http addresses, and CONNECT for all others.')
    const target = await reach(url)
    const headers = { ...passedOn(incoming.headers), host: url.host }
    await new Promise<void>((resolve, reject) => {
      const { method } = incoming
      const outgoing = request({ ...target, method, path: url.pathname + url.search, headers, agent: false })
      outgoing.on('socket', keep)
      outgoing.setTimeout(IDLE_MS, () => outgoing.destroy(new Error('The host does not answer.')))
      outgoing.on('error', reject)
      outgoing.on('response', (answer) => {
        response.writeHead(answer.statusCode ?? 502, passedOn(answer.headers))
        answer.pipe(response)
        answer.on('error', reject)
        response.on('close', () => {
          outgoing.destroy()
          resolve()
        })
      })
      incoming.pipe(outgoing)
    })
  }

  async function tunnel (incoming: IncomingMessage, client: Socket, head: Buffer): Promise<void> {
    const target = await reach(new URL(`https://${incoming.url}`))
    const outgoing = connect({ ...target, autoSelectFamily: true, timeout: CONNECT_MS })
    keep(outgoing)
    await new Promise<void>((resolve, reject) => {
      outgoing.once('connect', resolve).once('error', reject)
      outgoing.once('timeout', () => reject(new Error(`${target.host} does not answer.`)))
      client.once('close', () => reject(new Error('closed')))
    })
    for (const [from, to] of [[client, outgoing], [outgoing, client]]) {
      from.setTimeout(IDLE_MS, () => from.destroy())
      from.once('close', () => to.destroy())
    }
    client.write('HTTP/1.1 200 Connection established\r\n\r\n')
    if (head.length > 0) outgoing.write(head)
    client.pipe(outgoing).pipe(client)
  }

  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve))
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const stream of open) stream.destroy()
      })
  }
}
