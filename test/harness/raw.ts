import { once } from 'node:events'
import { connect, type AddressInfo } from 'node:net'
import type { App } from '../../app.ts'

export interface RawAnswer {
  status: number
  headers: Record<string, string>
  body: string
  json(): any
}

/** Makes the service listen on a free local port, unless it already listens, and returns the port. */
export async function listen (app: App): Promise<number> {
  if (!listening.has(app)) listening.set(app, app.server.listening ? undefined : app.listen({ port: 0, host: '127.0.0.1' }))
  await listening.get(app)
  return (app.server.address() as AddressInfo).port
}
/** The pending `listen` of each service, because several callers may need it at once. */
const listening = new WeakMap<App, Promise<unknown> | undefined>()

/** Sends bytes unchanged, and reads until the service closes the connection. */
export async function sendBytes (port: number, ...pieces: Array<string | Buffer>): Promise<RawAnswer> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  // A refused upload may be cut off while it is still being sent.
  socket.on('error', () => {})
  const closed = new Promise((resolve) => socket.on('close', resolve))
  for (const piece of pieces) socket.write(piece)
  await closed
  return parseAnswer(Buffer.concat(chunks).toString())
}

/** Sends one request, header by header, on a connection of its own. Adds the correct `Host` header unless `headers` has one. */
export async function sendRaw (
  port: number,
  { method = 'GET', path = '/health', headers = [], body = '' }: {
    method?: string,
    path?: string,
    headers?: string[],
    body?: string | Buffer
  } = {}
): Promise<RawAnswer> {
  const given = headers.some((header) => /^host:/i.test(header)) ? headers : [`Host: 127.0.0.1:${port}`, ...headers]
  const length = body.length > 0 && !headers.some((header) => /^(content-length|transfer-encoding):/i.test(header))
    ? [`Content-Length: ${Buffer.byteLength(body)}`]
    : []
  return sendBytes(port, [`${method} ${path} HTTP/1.1`, ...given, ...length, 'Connection: close', '', ''].join('\r\n'), body)
}

/** Parses the response that arrived on a socket. */
export function parseAnswer (text: string): RawAnswer {
  const [head, ...rest] = text.split('\r\n\r\n')
  const [statusLine, ...lines] = head.split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()])
  )
  const body = rest.join('\r\n\r\n')
  return { status: Number(statusLine.split(' ')[1]), headers, body, json: () => JSON.parse(body) }
}
