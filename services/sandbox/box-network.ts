import type { LookupAddress } from 'node:dns'
import { createServer, request, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, type LookupFunction, type Socket } from 'node:net'
import { basename, dirname, extname, isAbsolute, join } from 'node:path'
import type { Duplex } from 'node:stream'
import { childProgram } from '../process/index.ts'
import { isIn } from './box-places.ts'

/** The ports that a command is allowed to reach at a host that is named without a port. */
const WEB_PORTS = [80, 443]
/** The most connections that a command can have open at once. */
const MOST_CONNECTIONS = 64
/** Milliseconds within which a connection must be made, and after which an idle connection is closed. */
const CONNECT_MS = 15_000
const IDLE_MS = 120_000

/**
 * Looks up the addresses of the host of a URL. Rejects with a sentence, for the command to read, if the command is not allowed to reach the
 * host.
 */
export type LookUp = (url: URL) => Promise<LookupAddress[]>

/** Thrown if a command is not allowed to reach a host. */
class Refused extends Error {}

/** Returns the HTTP status of a failed connection: 403 if the command is not allowed to reach the host, 502 if the host does not answer. */
const statusOf = (error: Error): [code: number, text: string] => error instanceof Refused ? [403, 'Forbidden'] : [502, 'Bad Gateway']

const unreached = (host: string, { message, code }: NodeJS.ErrnoException) => new Error(`${host} cannot be reached: ${message || code}.`)

/** Headers that are not forwarded: they are about one connection, or for this proxy. */
const CLOSE = /^(?:connection|keep-alive|proxy-.*|te|trailer|upgrade)$/i

/** Whether one of `hosts` (`host` or `host:port`) names this host and port. */
function isNamed (hosts: readonly string[], host: string, port: number): boolean {
  const name = host.toLowerCase().replace(/\.$/, '')
  return hosts.some((each) => {
    const [named, only] = each.toLowerCase().split(':')
    return named === name && (only === undefined ? WEB_PORTS.includes(port) : Number(only) === port)
  })
}

/**
 * Starts the proxy of one command on the Unix socket `path`. The proxy forwards HTTP requests, and tunnels everything else with CONNECT. It
 * reaches the named hosts and no others, and looks up their addresses itself for each connection. `close` ends the proxy and its
 * connections.
 */
async function startHostProxy (path: string, hosts: readonly string[], lookUp: LookUp): Promise<{ close(): Promise<void> }> {
  const open = new Set<Duplex>()
  const keep = (stream: Duplex) => {
    open.add(stream.once('close', () => open.delete(stream)))
    stream.on('error', () => stream.destroy())
  }

  /**
   * Returns the options to connect to the host of a URL. Throws Refused, with a sentence for the command, if the command is not allowed to
   * reach the host.
   */
  async function reach (url: URL): Promise<{ host: string, port: number, lookup: LookupFunction }> {
    const host = url.hostname.replace(/^\[|\]$/g, '')
    const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
    if (!isNamed(hosts, host, port)) {
      throw new Refused(`${host}:${port} is not among the hosts that this command may reach: ${hosts.join(', ')}.`)
    }
    const addresses = await lookUp(url).catch((error: Error) => {
      throw new Refused(error.message)
    })
    return {
      host,
      port,
      lookup: (_host, { all }, done) => all ? done(null, addresses) : done(null, addresses[0].address, addresses[0].family)
    }
  }

  const server = createServer((incoming, response) => {
    void forward(incoming, response).catch((error: Error) => {
      if (response.headersSent) response.destroy()
      else response.writeHead(statusOf(error)[0], { 'content-type': 'text/plain', connection: 'close' }).end(`${error.message}\n`)
    })
  })
  server.maxConnections = MOST_CONNECTIONS
  server.on('connection', keep)
  server.on('connect', (incoming: IncomingMessage, client: Socket, head: Buffer) => {
    void tunnel(incoming, client, head).catch((error: Error) => {
      client.end(`HTTP/1.1 ${statusOf(error).join(' ')}\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n${error.message}\n`)
    })
  })

  const passedOn = (headers: IncomingHttpHeaders) => Object.fromEntries(Object.entries(headers).filter(([name]) => !CLOSE.test(name)))

  async function forward (incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(incoming.url ?? '')
    if (url.protocol !== 'http:') throw new Refused('This proxy takes http addresses, and CONNECT for all others.')
    const target = await reach(url)
    const headers = { ...passedOn(incoming.headers), host: url.host }
    await new Promise<void>((resolve, reject) => {
      const { method } = incoming
      const outgoing = request({ ...target, method, path: url.pathname + url.search, headers, agent: false })
      outgoing.on('socket', keep)
      outgoing.setTimeout(IDLE_MS, () => outgoing.destroy(new Error('The host does not answer.')))
      outgoing.on('error', (error) => reject(unreached(target.host, error)))
      outgoing.on('response', (answer) => {
        response.writeHead(answer.statusCode ?? 502, passedOn(answer.headers))
        answer.pipe(response)
        answer.on('error', reject)
      })
      // Also if the command disconnects before the answer.
      response.on('close', () => {
        outgoing.destroy()
        resolve()
      })
      incoming.pipe(outgoing)
    })
  }

  async function tunnel (incoming: IncomingMessage, client: Socket, head: Buffer): Promise<void> {
    const target = await reach(new URL(`https://${incoming.url}`))
    const outgoing = connect({ ...target, autoSelectFamily: true, timeout: CONNECT_MS })
    keep(outgoing)
    await new Promise<void>((resolve, reject) => {
      outgoing.once('connect', resolve).once('error', (error) => reject(unreached(target.host, error)))
      outgoing.once('timeout', () => reject(new Error(`${target.host} does not answer.`)))
      client.once('close', () => reject(new Error('closed')))
    }).catch((error) => {
      outgoing.destroy()
      throw error
    })
    for (const [from, to] of [[client, outgoing], [outgoing, client]]) {
      from.setTimeout(IDLE_MS, () => from.destroy())
      from.once('close', () => to.destroy())
    }
    client.write('HTTP/1.1 200 Connection established\r\n\r\n')
    if (head.length > 0) outgoing.write(head)
    client.pipe(outgoing).pipe(client)
  }

  await new Promise<void>((resolve, reject) => server.on('error', reject).listen(path, resolve))
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const stream of open) stream.destroy()
      })
  }
}

/**
 * The port of the proxy in a box (a sandbox). Each box has a network namespace of its own, so the number can be the same in all of them.
 */
const PROXY_PORT = 3128

interface Parts {
  /** A folder outside the box, for the proxy's socket. */
  folder: string
  hosts: string[]
  lookUp: LookUp
  /** `inherit`: the program in the box reads the child's standard input, after `input`. `ignore`: the program gets no input. */
  stdin: 'inherit' | 'ignore'
}

/** Starts the proxy of one box. Returns the command, input, variables and files that connect programs in the box to the proxy. */
export async function openBoxNetwork ({ folder, hosts, lookUp, stdin }: Parts) {
  const from = join(folder, 'proxy.sock')
  const proxy = await startHostProxy(from, hosts, lookUp)
  const to = '/run/proxy.sock'
  const forwarder = childProgram('box-forwarder', [to, String(PROXY_PORT), stdin])
  const isSource = forwarder.input.length === 0
  const address = `http://127.0.0.1:${PROXY_PORT}`
  const proxied = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].flatMap((name) => [[name, address], [name.toLowerCase(), address]])
  // The folder in the box with the forwarder's program. With it, programs in the box learn no path of the service.
  const shown = '/run/forwarder'
  const isElectron = process.versions.electron !== undefined
  const own = isElectron ? dirname(forwarder.command) : forwarder.command
  const name = basename(forwarder.command)
  const isOfSystem = ['/usr', '/opt', '/nix'].some((each) => isIn(each, own))
  const program = isOfSystem ? forwarder.command : join(shown, name)
  const script = '/run/box-forwarder'
  const isScript = (each: string) => isAbsolute(each) && /^box-forwarder\.\w+$/.test(basename(each))
  return {
    command: [program, ...forwarder.args.map((each) => isScript(each) ? script + extname(each) : each)],
    /** Must be written to the child's standard input before anything else. */
    input: forwarder.input,
    env: { ...forwarder.env, ...Object.fromEntries(proxied), NO_PROXY: 'localhost,127.0.0.1,::1', NODE_USE_ENV_PROXY: '1' },
    files: [
      { from, to },
      ...isOfSystem ? [] : [{ from: own, to: isElectron ? shown : program }],
      ...isSource ? [{ from: forwarder.args[0], to: script + extname(forwarder.args[0]) }] : []
    ],
    close: () => proxy.close()
  }
}
