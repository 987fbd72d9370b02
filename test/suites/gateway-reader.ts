import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { Test } from 'tap'
import type { Failure } from '../../services/models/providers/failures.ts'

const MIB = 1024 * 1024

/** An answer of a model server: its bytes, sent in these pieces. */
export interface Answer {
  pieces: Uint8Array[]
  status?: number
  headers?: Record<string, string>
  /** Whether the connection breaks after the pieces. */
  isCut?: boolean
}

/** The parts that a reader returned, and how it failed. */
export interface Outcome {
  parts: LanguageModelV4StreamPart[]
  failure?: Failure
}

export type Read = (t: Test, answer: Answer) => Promise<Outcome>

const delta = (text: string) => ({ type: 'text-delta' as const, id: '0', delta: text })
const hello = '{"type":"text-delta","id":"0","delta":"hello"}'
const finish = { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage: {} }
const whole = (text: string) => [Buffer.from(text)]
const slices = (bytes: Buffer, size: number) =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => bytes.subarray(index * size, (index + 1) * size))

/** The behaviour of the reader of the gateway's event stream. */
export function gatewayReaderSuite (t: Test, read: Read) {
  t.test('the gateway: events are read however they are written and cut', async (t) => {
    const rows: Record<string, string> = {
      'an event': `data: ${hello}\n\n`,
      'no blank after the colon': `data:${hello}\n\n`,
      CRLF: `data: ${hello}\r\n\r\n`,
      CR: `data: ${hello}\r\r: end\n`,
      'data on several lines': 'data: {"type":"text-delta",\ndata: "id":"0",\ndata:"delta":"hello"}\n\n',
      'other fields and comments': `: a comment\nevent: part\nid: 7\nretry: 10\ndata: ${hello}\nodd\n\n\n: ping\n\n`,
      'a byte order mark': `\ufeffdata: ${hello}\n\n`,
      'no blank line at the end': `data: ${hello}`,
      'a cut event at the end': `data: ${hello}\n\ndata: {"type":"text-delta","id":"0","delta":"lo`,
      'events that are no parts': `data: 5\n\ndata: [1]\n\ndata: words\n\ndata: null\n\ndata: {"type":7}\n\ndata: ${hello}\n\n`,
      'an id and a delta as numbers, or no id': 'data: {"type":"text-delta","id":0,"delta":"hello"}\n\n',
      'raw parts': `data: {"type":"raw","rawValue":1}\n\ndata: ${hello}\n\n`
    }
    for (const [what, text] of Object.entries(rows)) {
      for (const size of [1, 2, 3, 1000]) {
        t.strictSame(
          await read(t, { pieces: slices(Buffer.from(text), size) }),
          { parts: [delta('hello')] },
          `${what}, in pieces of ${size}`
        )
      }
    }
  })

  t.test('the gateway: a character may be cut anywhere, and bytes that are none are replaced', async (t) => {
    const text = Buffer.from(`data: ${JSON.stringify(delta('né 語 🌊 \\ " \n \u2028'))}\n\n`)
    for (const size of [1, 2, 3, 5]) {
      t.strictSame((await read(t, { pieces: slices(text, size) })).parts, [delta('né 語 🌊 \\ " \n \u2028')])
    }
    const broken = Buffer.concat(
      [Buffer.from('data: {"type":"text-delta","id":"0","delta":"a'), Buffer.from([0xff]), Buffer.from('b"}\n\n')]
    )
    t.strictSame((await read(t, { pieces: [broken] })).parts, [delta('a\ufffdb')])
  })

  t.test('the gateway: a timestamp becomes a date, and other parts stay as they are', async (t) => {
    const at = '2026-01-02T03:04:05.678Z'
    const parts: object[] = [
      { type: 'stream-start', warnings: [] },
      { type: 'response-metadata', id: 'gen_1', timestamp: at },
      { type: 'reasoning-delta', id: 'r', delta: 'hm', providerMetadata: { anthropic: { signature: 's' } } },
      { type: 'tool-call', toolCallId: 'c', toolName: 'x', input: '{"constructor":{"a":1}}' },
      { type: 'unknown', constructor: 'none' },
      finish
    ]
    const text = parts.map((part) => `data: ${JSON.stringify(part)}\n\n`).join('')
    t.strictSame(await read(t, { pieces: whole(text) }), { parts: parts.with(1, { ...parts[1], timestamp: new Date(at) }) })
  })

  t.test('the gateway: what cannot be read ends the answer, after the parts before it', async (t) => {
    for (
      const bad of [
        '{"type":"text-del',
        '{"type":"text-delta","id":"0","delta":"a\\qb"}',
        '{"type":"text-delta","id":"0","delta":"a\tb"}',
        '{"type":"unknown","__proto__":{"isAdmin":true}}',
        '{"type":"unknown","deep":[{"\\u005f_proto__":1}]}',
        '{"type":"unknown","constructor":{"prototype":{}}}'
      ]
    ) {
      const { parts, failure } = await read(t, { pieces: whole(`data: ${hello}\n\ndata: ${bad}\n\ndata: ${hello}\n\n`) })
      t.strictSame(parts, [delta('hello')], bad)
      t.match(failure, { code: 'ERR_PROVIDER_RESPONSE', retryable: true, message: /cannot be read/ }, bad)
    }
  })

  t.test('the gateway: the mark of the end ends an answer without a finish part, and one document is an answer, too', async (t) => {
    const ended = await read(t, { pieces: whole(`data: ${hello}\n\ndata: [DONE]\n\n`) })
    t.match(ended, { failure: undefined, parts: [delta('hello'), { type: 'finish', finishReason: { unified: 'stop' } }] })
    const content = [{ type: 'text', text: 'hello' }, { type: 'tool-call', toolCallId: 'c', toolName: 'look', input: { path: '.' } }]
    const headers = { 'content-type': 'application/json' }
    const document = { content, finishReason: { unified: 'tool-calls', raw: 'tool_calls' }, usage: {} }
    t.match((await read(t, { pieces: whole(JSON.stringify(document)), headers })).parts, [
      { type: 'text-start' },
      { delta: 'hello' },
      { type: 'text-end' },
      { toolCallId: 'c', input: '{"path":"."}' },
      { type: 'finish', finishReason: { unified: 'tool-calls' } }
    ])
    const refused = await read(t, { pieces: whole('{"error":{"message":"your trial is over"}}'), headers })
    t.match(refused.failure, { message: /your trial is over/ })
  })

  t.test('the gateway: a large event is read, and one of more than 8 MiB is refused', async (t) => {
    const large = delta('x'.repeat(3 * MIB))
    const answer = (part: object) => slices(Buffer.from(`data: ${hello}\n\ndata: ${JSON.stringify(part)}\n\n`), 65_536)
    t.ok((await read(t, { pieces: answer(large) })).parts[1], 'a large event')
    for (const pieces of [answer(delta('x'.repeat(9 * MIB))), slices(Buffer.from('data: x\n'.repeat(9 * MIB / 8)), 65_536)]) {
      t.match(await read(t, { pieces }), { failure: { code: 'ERR_PROVIDER_RESPONSE', retryable: false, message: /more than 8 MiB/ } })
    }
    const many = slices(Buffer.from(`data: ${JSON.stringify(delta('x'.repeat(MIB / 2)))}\n\n`.repeat(20)), 65_536)
    t.equal((await read(t, { pieces: many })).parts.length, 20, 'the answer as a whole may be larger')
  })

  t.test('the gateway: an answer that is none, is cut off or refused is told as such', async (t) => {
    const rows: Array<[Answer, object]> = [
      [{ pieces: whole('<html>'), headers: { 'content-type': 'text/html' } }, { code: 'ERR_PROVIDER_RESPONSE', message: /a web page/ }],
      [{ pieces: whole('{}'), headers: { 'content-type': 'application/json' } }, { message: /one document instead of a stream/ }],
      [{ pieces: [], status: 307, headers: { location: 'https://x.example/a?b=c' } }, { message: /points to https:\/\/x\.example\/a\)/ }],
      [{ pieces: whole(`data: ${hello}\n\n`), isCut: true }, { code: 'ERR_PROVIDER_CONNECTION', retryable: true }],
      [{ pieces: [], isCut: true }, { code: 'ERR_PROVIDER_CONNECTION', retryable: true }],
      [{ pieces: whole('{"error":{"message":"Slow","type":"rate_limit_exceeded"}}'), status: 429, headers: { 'retry-after': '7' } }, {
        code: 'ERR_PROVIDER_RATE_LIMIT',
        retryAfterMs: 7_000,
        message: /Slow/
      }],
      [{ pieces: slices(Buffer.alloc(20 * MIB, 'x'), 65_536), status: 500 }, { code: 'ERR_PROVIDER_UNAVAILABLE', retryable: true }]
    ]
    for (const [answer, expected] of rows) t.match((await read(t, answer)).failure, expected, JSON.stringify(expected))
  })
}
