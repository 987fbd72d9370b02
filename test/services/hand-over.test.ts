import { PassThrough } from 'node:stream'
import t from 'tap'
import { systemClock } from '../../services/lib/clock.ts'
import { parseStdinSecrets, readStdinSecrets } from '../../services/config/stdin-secrets.ts'
import { fakeClock } from '../harness/clock.ts'

const KIB = 1024
/** What `readStdinSecrets` makes of this on standard input. */
async function read (...chunks: Array<string | Buffer | null>) {
  const input = new PassThrough({ highWaterMark: 256 * KIB })
  for (const chunk of chunks) chunk === null ? input.end() : input.write(chunk)
  return { input, ...await readStdinSecrets({ input, clock: systemClock }) }
}
const refused = (...chunks: Array<string | Buffer | null>) => read(...chunks).then(() => undefined, (error) => error)

t.test('the first line is taken however it arrives, and what follows is read and dropped', async (t) => {
  const whole = '{"token":"t ö","passphrase":"p","gatewayKey":"g","keys":{"openai":"k"}}'
  const expected = { token: 't ö', passphrase: 'p', gatewayKey: 'g', keys: { openai: 'k' } }
  t.same((await read(`${whole}\n`)).handOver, expected)
  t.same((await read(`${whole}\r\n`)).handOver, expected, 'CRLF')
  t.same((await read(...Array.from(Buffer.from(`${whole}\n`), (byte) => Buffer.of(byte)))).handOver, expected, 'byte by byte')
  t.same((await read(`\uFEFF${whole}\n`)).handOver, expected, 'a byte order mark')
  t.same((await read('{}\n')).handOver, {})
  const { handOver, input, ended } = await read('{"token":"t"}\n{"token":"other"}\n', Buffer.alloc(200 * KIB))
  t.same(handOver, { token: 't' })
  for (let left = 20; left > 0; left--) {
    if (!input.write(Buffer.alloc(200 * KIB))) await new Promise((resolve) => input.once('drain', resolve))
  }
  input.end()
  await t.resolves(ended)
})

t.test('the end of the input is told, however it comes', async (t) => {
  for (const end of ['end', 'destroy'] as const) {
    const { input, ended } = await read('{}\n')
    input[end]()
    await t.resolves(ended, end)
  }
  const { input, ended } = await read('{}\n')
  input.destroy(new Error('read ECONNRESET'))
  await t.resolves(ended, 'an error')
})

t.test('a line may be 64 KiB long and no longer', async (t) => {
  const line = (length: number) => `{"token":"${'x'.repeat(length - 12)}"}`
  t.equal((await read(`${line(64 * KIB)}\n`)).handOver.token?.length, 64 * KIB - 12)
  t.match(await refused(`${line(64 * KIB + 1)}\n`), { exitCode: 64, message: /longer than 64 KiB/ })
  t.match(await refused('x'.repeat(64 * KIB + 1)), { exitCode: 64, message: /longer than 64 KiB/ }, 'it is not read to its end')
})

const SENSELESS: Array<[string, Array<string | Buffer | null>, RegExp]> = [
  ['an empty line', ['\n'], /not JSON/],
  ['an end before the line', [null], /ended before/],
  ['an end within the line', ['{"token":"hidden-1"}', null], /ended before/],
  ['bytes that are no UTF-8', [Buffer.from([0x7b, 0xff, 0x7d, 0x0a])], /not UTF-8/],
  ['no JSON', ['token=hidden-1\n'], /not JSON/],
  ['JSON that goes on in the next line', ['{\n"token":"hidden-1"}\n'], /not JSON/],
  ['an array', ['["hidden-1"]\n'], /not a JSON object/],
  ['a string', ['"hidden-1"\n'], /not a JSON object/],
  ['null', ['null\n'], /not a JSON object/],
  ['a misspelled field', ['{"passPhrase":"hidden-1"}\n'], /unknown field "passPhrase".*token, passphrase, gatewayKey, keys/],
  ['a secret for a field', ['{"hidden-1":""}\n'], /an unknown field\. .*token, passphrase, gatewayKey, keys/],
  ['a field that every object has', ['{"__proto__":{"token":"hidden-1"}}\n'], /an unknown field/],
  ['an empty token', ['{"token":""}\n'], /"token".*non-empty/],
  ['a passphrase that is a number', ['{"passphrase":12345678}\n'], /"passphrase"/],
  ['a key that is null', ['{"gatewayKey":null}\n'], /"gatewayKey"/],
  ['keys that are a string', ['{"keys":"hidden-1"}\n'], /"keys"/],
  ['keys that are a list', ['{"keys":["hidden-1"]}\n'], /"keys"/],
  ['keys that are null', ['{"keys":null}\n'], /"keys"/],
  ['a key in them that is no string', ['{"keys":{"openai":["hidden-1"]}}\n'], /"keys"/],
  ['an empty key in them', ['{"keys":{"openai":""}}\n'], /"keys"/],
  ['a key in them without a name', ['{"keys":{"":"hidden-1"}}\n'], /"keys"/]
]
for (const [what, chunks, message] of SENSELESS) {
  t.test(`${what} is refused with a sentence that quotes nothing of it`, async (t) => {
    const error = await refused(...chunks)
    t.match(error, { exitCode: 64, message })
    t.notMatch(error.message, /hidden|12345/)
  })
}

t.test('a line that does not come within 5 s is not waited for', async (t) => {
  const clock = fakeClock()
  const input = new PassThrough()
  input.write('{"token":')
  const outcome = readStdinSecrets({ input, clock }).catch((error) => error)
  await clock.advance(5_000)
  t.match(await outcome, { exitCode: 64, message: /within 5 s/ })
  t.ok(input.destroyed)
})

t.test('keys of any provider are kept', (t) => {
  t.same(
    parseStdinSecrets(Buffer.from('{"keys":{"anthropic":"a","openai":"b","google":"c","__proto__":"d"}}')).keys,
    JSON.parse('{"anthropic":"a","openai":"b","google":"c","__proto__":"d"}')
  )
  t.end()
})
