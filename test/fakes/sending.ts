import type { ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import type { Plan } from './gateway-plan.ts'

/** An event of a stream. */
export const sse = (part: unknown) => `data: ${JSON.stringify(part)}\n\n`

export function sendJson (res: ServerResponse, body: unknown, status = 200, headers: Record<string, string> = {}) {
  res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(typeof body === 'string' ? body : JSON.stringify(body))
}

/** One JSON document of so many bytes, sent no faster than it is taken. */
export async function sendBytes (res: ServerResponse, bytes: number) {
  res.writeHead(200, { 'content-type': 'application/json' })
  await pipeline(padding(bytes), res).catch(() => {})
}

function * padding (bytes: number) {
  const piece = Buffer.alloc(256 * 1024, 'x')
  yield '{"padding":"'
  for (let sent = 0; sent < bytes; sent += piece.length) yield piece
  yield '"}'
}

export function startStream (res: ServerResponse): ServerResponse {
  res.on('error', () => {})
  return res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
}

const DONE = 'data: [DONE]\n\n'

/**
 * Streams parts at the plan's pace, and ends as it says: when not properly, then after its first `after` parts, or the `whole`
 * ones. `done` follows the last part.
 */
export function sendParts (
  res: ServerResponse,
  parts: unknown[],
  plan: Plan,
  { whole, render = sse, done = DONE }: { whole: number, render?: (part: any) => string, done?: string }
) {
  startStream(res)
  const count = plan.ending && plan.ending !== 'no-done' ? Math.min(plan.after ?? whole, parts.length) : parts.length
  if (!plan.partMs) {
    res.write(parts.slice(0, count).map(render).join(''))
    return end(res, plan.ending, done)
  }
  // One timer a stream; a late tick catches up, so that the pace holds under load.
  const started = performance.now()
  let sent = 0
  const timer = setInterval(() => {
    const due = Math.min(count, Math.floor((performance.now() - started) / plan.partMs!))
    let text = ''
    for (; sent < due; sent++) text += render(parts[sent])
    if (text) res.write(text)
    if (sent === count) {
      clearInterval(timer)
      end(res, plan.ending, done)
    }
  }, plan.partMs)
  res.once('close', () => clearInterval(timer))
}

function end (res: ServerResponse, ending: Plan['ending'], done: string) {
  if (ending === 'stall') return
  // The bytes already written are to arrive before the connection breaks.
  if (ending === 'cut') res.write('', () => setTimeout(() => res.destroy(), 5))
  else if (ending === 'invalid-json') res.end('data: {"type":"text-delta","id":"t0","del\n\n')
  else if (ending === 'no-finish' || ending === 'no-done') res.end()
  else if (ending) res.end(sse({ type: 'error', error: ending.error }) + done)
  else res.end(done)
}
