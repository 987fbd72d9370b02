import type { ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import type { Plan } from './gateway-plan.ts'

/** An event of a stream. */
export const sse = (part: unknown) => `data: ${JSON.stringify(part)}\n\n`

export function sendJson (res: ServerResponse, body: unknown, status = 200, headers: Record<string, string> = {}) {
  res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(typeof body === 'string' ? body : JSON.stringify(body))
}

/** Sends one JSON document of this many bytes, no faster than the client reads it. */
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
 * Streams parts at the plan's pace, and ends as the plan says. An improper end comes after the first `after` parts; by default, after the
 * first `whole` ones. `done` is sent after the last part.
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
  // One timer for each stream. A late tick sends all parts that are due, so that the pace holds under load.
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
  // The bytes that are already written must arrive before the connection breaks.
  if (ending === 'cut') res.write('', () => setTimeout(() => res.destroy(), 5))
  else if (ending === 'invalid-json') res.end('data: {"type":"text-delta","id":"t0","del\n\n')
  else if (ending === 'no-finish' || ending === 'no-done') res.end()
  else if (ending) res.end(sse({ type: 'error', error: ending.error }) + done)
  else res.end(done)
}
