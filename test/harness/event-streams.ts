import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream/promises'
import fc from 'fast-check'
import type { Test } from 'tap'
import type { Answer } from '../suites/gateway-reader.ts'

/** Starts a server that answers all requests with `respond`. */
export async function serve (t: Test, respond: (response: ServerResponse) => void | Promise<void>) {
  const server = createServer((request, response) => {
    response.on('error', () => {})
    request.resume().on('end', () => void respond(response))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** Sends the pieces one after the other, as fast as the client reads them. */
export async function send (
  response: ServerResponse,
  { pieces, status = 200, headers = { 'content-type': 'text/event-stream' }, isCut }: Answer
) {
  async function * cut () {
    for (const piece of pieces) {
      yield piece
      await new Promise(setImmediate)
    }
    if (isCut) throw new Error('cut')
  }
  response.writeHead(status, headers)
  await pipeline(cut, response).catch(() => {})
}

/** Arbitrary streams of these events: with all variants of the notation, split anywhere, some of them with one wrong byte. */
export function damagedStreams (part: fc.Arbitrary<unknown>) {
  const end = fc.constantFrom('\n', '\r\n', '\r')
  const event = fc.record({
    part,
    end,
    colon: fc.constantFrom('data:', 'data: '),
    isPretty: fc.boolean(),
    before: fc.constantFrom([], [': ping'], ['id: 1', ''])
  }).map(({ part, end, colon, isPretty, before }) => {
    const lines = JSON.stringify(part, null, isPretty ? 1 : 0).split('\n').map((line) => colon + line)
    return [...before, ...lines, '', ''].join(end)
  })
  const damage = fc.option(fc.record({ at: fc.nat(), byte: fc.nat(255) }), { freq: 1, nil: undefined })
  return fc.record({
    events: fc.array(event, { maxLength: 8 }),
    bom: fc.constantFrom('', '\ufeff'),
    last: fc.constantFrom('', 'data: [DONE]\n\n', 'data: {"type":"text-delta"'),
    damage,
    cuts: fc.array(fc.nat(), { maxLength: 12 })
  }).map(({ events, bom, last, damage, cuts }) => {
    // The stream ends with a comment, because after a final CR the SDK's parser waits for the next character.
    const bytes = Buffer.from(`${bom}${events.join('')}${last}\n: end\n`)
    if (damage !== undefined) bytes[damage.at % bytes.length] = damage.byte
    const borders = [0, ...cuts.map((cut) => cut % bytes.length).sort((a, b) => a - b), bytes.length]
    return borders.slice(1).map((border, index) => bytes.subarray(borders[index], border)).filter(({ length }) => length > 0)
  })
}
