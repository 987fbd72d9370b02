import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const execute = promisify(execFile)
const MOST = 64_000_000
const PIECE_BYTES = 64 * 1024
/** No answer takes so long; a request that does is lost. */
const LOST_MS = 30_000
const PYTHON = fileURLToPath(new URL('refused.py', import.meta.url))

/** A request with a body of `size` bytes, sent with a content-length or chunked. */
export interface Upload {
  url: string
  method: string
  headers: Record<string, string>
  size: number
  chunked: boolean
}
/** Status and body of the answer; status 0 and the error when none arrived. */
export type Answer = [status: number, body: string]
/** Sends the upload so many times, one after the other. */
export type Client = (upload: Upload, times: number) => Promise<Answer[]>

/** One buffer for all uploads: making it would take longer than sending it. */
const whole = Buffer.alloc(MOST, 'x')

function * pieces (size: number) {
  for (let at = 0; at < size; at += PIECE_BYTES) yield whole.subarray(at, Math.min(size, at + PIECE_BYTES))
}

const each = (send: (upload: Upload, nth: number) => Promise<Answer>): Client => async (upload, times) => {
  const answers: Answer[] = []
  for (let nth = 0; nth < times; nth++) answers.push(await send(upload, nth).catch((error): Answer => [0, String(error?.cause ?? error)]))
  return answers
}

const undici = each(async ({ url, method, headers, size, chunked }) => {
  const body = chunked ? Readable.toWeb(Readable.from(pieces(size))) as ReadableStream : whole.subarray(0, size)
  const response = await fetch(url, { method, headers, body, signal: AbortSignal.timeout(LOST_MS), ...chunked && { duplex: 'half' } })
  return [response.status, await response.text()]
})

const nodeHttp = (agent: Agent | false) =>
  each(async ({ url, method, headers, size, chunked }) => {
    const sent = request(url, {
      agent,
      method,
      signal: AbortSignal.timeout(LOST_MS),
      headers: { ...headers, ...!chunked && { 'content-length': size } }
    })
    const uploaded = pipeline(Readable.from(pieces(size)), sent)
    // The answer counts, also when it came before the end of the body.
    uploaded.catch(() => {})
    const [response] = await once(sent, 'response') as [IncomingMessage]
    return [response.statusCode!, await text(response)]
  })

const python: Client = async (upload, times) => {
  const child = spawn('python3', [PYTHON], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(JSON.stringify({ ...upload, times }))
  return JSON.parse(await text(child.stdout))
}

/** Every other time without `Expect: 100-continue`, which curl sends with a large body. */
const curl = each(async ({ url, method, headers, size, chunked }, nth) => {
  const lines = Object.entries({ ...headers, ...chunked && { 'transfer-encoding': 'chunked' }, ...nth % 2 === 1 && { expect: '' } })
  const sent = execute('curl', [
    '-sS',
    '--max-time',
    String(LOST_MS / 1000),
    '-X',
    method,
    ...lines.flatMap(([name, value]) => ['-H', `${name}:${value === '' ? '' : ` ${value}`}`]),
    '--data-binary',
    '@-',
    '-w',
    '\n%{http_code}',
    url
  ])
  sent.child.stdin!.on('error', () => {})
  Readable.from(pieces(size)).pipe(sent.child.stdin!)
  const { stdout } = await sent
  const end = stdout.lastIndexOf('\n')
  return [Number(stdout.slice(end + 1)), stdout.slice(0, end)]
})

const kept = new Agent({ keepAlive: true, maxSockets: 1 })
export const clients: Record<string, Client> = {
  'undici fetch': undici,
  'node http with keep-alive': nodeHttp(kept),
  'node http without keep-alive': nodeHttp(false),
  'Python urllib': python,
  curl
}
