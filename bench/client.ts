import { connect, type Socket } from 'node:net'

// The load client, which runs in a separate process. It uses raw sockets, because an HTTP client would use more CPU than the measured
// servers. It takes one command at a time over the IPC channel, and answers with the result.

/** Opens `count` streams at once on reused connections, and reads each to its end. */
export interface StreamsCommand {
  kind: 'streams'
  port: number
  path: string
  headers?: string
  body: string
  count: number
  stamped?: boolean
}
/** Requests a path every `everyMs` milliseconds for `forMs` milliseconds. */
export interface PollCommand {
  kind: 'poll'
  port: number
  path: string
  everyMs: number
  forMs: number
}
export type Command = StreamsCommand | PollCommand

export interface StreamsResult {
  /** Milliseconds from the first request to the last byte of the last stream. */
  ms: number
  /** The number of text deltas that were read. */
  tokens: number
  /** Milliseconds from each stream's request to its first text delta. */
  first: number[]
  /** Milliseconds between the time stamp of each token and its reading. */
  lags: number[]
}
export interface PollResult {
  latencies: number[]
}

const DELTA = '"text-delta"'
const STAMP = /"delta":"(\d+\.\d+) /g
const BODY_END = '\r\n0\r\n\r\n'

const idle = new Map<number, Socket[]>()

async function open (port: number): Promise<Socket> {
  const kept = idle.get(port)?.pop()
  if (kept !== undefined && !kept.destroyed) return kept
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  return socket
}

function release (port: number, socket: Socket) {
  socket.removeAllListeners('data').removeAllListeners('close')
  if (!idle.has(port)) idle.set(port, [])
  idle.get(port)!.push(socket)
}

async function streams ({ port, path, headers = '', body, count, stamped }: StreamsCommand): Promise<StreamsResult> {
  const request = `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\n${headers}` +
    `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  const sockets = await Promise.all(Array.from({ length: count }, () => open(port)))
  const result: StreamsResult = { ms: 0, tokens: 0, first: [], lags: [] }
  const start = performance.now()
  await Promise.all(sockets.map((socket) => read(socket, request, result, stamped)))
  result.ms = performance.now() - start
  for (const socket of sockets) release(port, socket)
  return result
}

/** Counts text deltas until the last chunk of the body. The measured servers never split a text delta over two writes. */
function read (socket: Socket, request: string, result: StreamsResult, stamped = false): Promise<void> {
  return new Promise((resolve, reject) => {
    let tail = ''
    let ending = ''
    let isFirst = true
    let asked = 0
    socket.once('close', () => reject(new Error(`the stream was cut after: ${tail}`)))
    socket.on('data', (bytes) => {
      const read = bytes.toString('latin1')
      const text = tail + read
      ending = (ending + read).slice(-BODY_END.length)
      // Time stamps need complete events. For counting, the first characters of a split event are enough.
      const end = stamped ? text.lastIndexOf('\n') + 1 : text.length
      const known = stamped ? text.slice(0, end) : text
      let found = 0
      for (let at = known.indexOf(DELTA); at !== -1; at = known.indexOf(DELTA, at + DELTA.length)) found++
      if (found > 0 && isFirst) {
        isFirst = false
        result.first.push(performance.now() - asked)
      }
      result.tokens += found
      if (stamped) {
        const now = performance.timeOrigin + performance.now()
        for (const [, sent] of known.matchAll(STAMP)) result.lags.push(now - Number(sent))
      }
      tail = stamped ? text.slice(end) : text.slice(1 - DELTA.length)
      if (ending === BODY_END) resolve()
    })
    asked = performance.now()
    socket.write(request)
  })
}

async function poll ({ port, path, everyMs, forMs }: PollCommand): Promise<PollResult> {
  const latencies: number[] = []
  const request = `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`
  const socket = await open(port)
  const end = performance.now() + forMs
  while (performance.now() < end) {
    const start = performance.now()
    const answered = new Promise((resolve) => socket.once('data', resolve))
    socket.write(request)
    await answered
    const took = performance.now() - start
    latencies.push(took)
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, everyMs - took)))
  }
  release(port, socket)
  return { latencies }
}

process.on('message', (command: Command) => void answer(command))

async function answer (command: Command) {
  try {
    process.send!({ result: command.kind === 'streams' ? await streams(command) : await poll(command) })
  } catch (error) {
    process.send!({ error: (error as Error).message })
  }
}
