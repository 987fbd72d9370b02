import type { Agent, ClientRequestArgs } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** A connection that was opened ahead is closed when no request takes it for this long; milliseconds. */
const UNUSED_MS = 30_000

const keyOf = ({ host, port }: { host?: string | null, port?: string | number | null }) => `${host}:${port}`

/** Lets an agent open a connection before there is a request for it. The next request to that server that needs a new one takes it. */
export function openAhead (agent: Agent & { options?: object }) {
  const waiting = new Map<string, Socket>()
  const taken = new WeakSet<Duplex>()
  const create = agent.createConnection.bind(agent)
  agent.createConnection = (options, callback) => {
    const socket = waiting.get(keyOf(options))
    if (socket === undefined || socket.destroyed) return create(options, callback)
    waiting.delete(keyOf(options))
    taken.add(socket)
    socket.removeListener('timeout', close).setTimeout(0)
    return socket.ref()
  }

  return {
    /** Opens a connection to the server of `url`, unless one is open that no request uses. */
    open (url: string) {
      const { hostname, port, protocol } = new URL(url)
      const host = hostname.replace(/^\[|\]$/g, '')
      const options = { host, port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port) }
      const key = keyOf(options)
      const isFree = Object.keys(agent.freeSockets).some((name) => name.startsWith(`${key}:`))
      if (isFree || waiting.has(key)) return
      const isAddress = host.includes(':') || /^[\d.]+$/.test(host)
      const all: ClientRequestArgs = { ...agent.options, ...options, ...!isAddress && { servername: host } }
      const socket = create(all) as Socket
      waiting.set(key, socket)
      // The request that would have used it makes its own connection, and meets the error there.
      socket.on('error', () => {})
      socket.once('close', () => {
        if (waiting.get(key) === socket) waiting.delete(key)
      })
      socket.setTimeout(UNUSED_MS, close).unref()
    },
    /** Whether the connection was opened ahead of its request: its server may have closed it before the request. */
    wasAhead: (socket: Duplex | null) => socket !== null && taken.has(socket),
    /** Closes what no request uses. */
    close () {
      for (const socket of waiting.values()) socket.destroy()
    }
  }
}

function close (this: Socket) {
  this.destroy()
}
