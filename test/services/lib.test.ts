import t from 'tap'
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { Readable, PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { Aborted } from '../../services/lib/abort.ts'
import { settlesWithin, startDeadline, withDeadline } from '../../services/lib/deadline.ts'
import { fakeClock } from '../harness/clock.ts'
import { digestIn } from '../../services/contracts/attached-file.ts'
import { homeFolder } from '../../services/lib/home-folder.ts'
import { EndlessLine, readLines, type Line } from '../../services/lib/line-reader.ts'
import { oldNode } from '../../services/lib/node-releases.ts'
import { mediaTypeOf, OCTETS, textKindOf } from '../../services/lib/media-type.ts'
import { createSecrets, createRedactor, redacted } from '../../services/lib/secrets.ts'
import { build } from '../harness/helper.ts'
import { readOptions } from '../../settings.ts'

const never = () => new Promise<never>(() => {})
const timeout = { kind: 'timeout', name: 'AbortError' }
const stopped = { kind: 'stop', name: 'AbortError' }

t.test('work that is too slow is aborted with the reason timeout and a sentence, even if it ignores its signal', async (t) => {
  const clock = fakeClock()
  let given: AbortSignal | undefined
  const slow = withDeadline({ clock, ms: 1_500 }, (signal) => {
    given = signal
    return never()
  })
  slow.catch(() => {})
  await clock.advance(1_499)
  t.notOk(given!.aborted)
  await clock.advance(1)
  await t.rejects(slow, { ...timeout, message: 'No answer for 1.5 s: time-out.' })
  t.match(given!.reason, timeout)
  await t.rejects(withDeadline({ clock, ms: 0, message: 'Too slow.' }, never), { ...timeout, message: 'Too slow.' })
})

t.test('work in time gives its result or its own error, and leaves no timer behind', async (t) => {
  const clock = fakeClock()
  t.equal(await withDeadline({ clock, ms: 10 }, async () => 'done'), 'done')
  await t.rejects(withDeadline({ clock, ms: 10 }, () => Promise.reject(new Error('its own'))), { message: 'its own' })
  t.same(clock.waits(), [])
})

t.test("the caller's abort ends the work with the caller's reason", async (t) => {
  const clock = fakeClock()
  const caller = new AbortController()
  const work = withDeadline({ clock, ms: 10, signal: caller.signal }, async (signal) => {
    signal.addEventListener('abort', () => {})
    caller.abort(new Aborted('stop'))
    throw new Error('its own words for an abort')
  })
  await t.rejects(work, stopped)
  await t.rejects(withDeadline({ clock, ms: 10, signal: caller.signal }, async () => t.fail('work of an aborted caller began')), stopped)
})

t.test('a limit that is shorter once renewed is met to the millisecond', async (t) => {
  const clock = fakeClock()
  const message = (ms: number) => `Nothing for ${ms} ms.`
  for (const [at, over, ms] of [[10, 70, 60], [59, 119, 60], [70, 130, 60], [119, 179, 60], [undefined, 120, 120]] as const) {
    let error: unknown
    let began = () => {}
    withDeadline({ clock, ms: 120, renewedMs: 60, message }, (_signal, renew) => {
      began = renew
      return never()
    }).catch((reason) => (error = reason))
    if (at !== undefined) {
      await clock.advance(at)
      began()
    }
    await clock.advance(over - (at ?? 0) - 1)
    t.equal(error, undefined, `renewed after ${at} ms`)
    await clock.advance(1)
    t.match(error, { ...timeout, message: `Nothing for ${ms} ms.` })
  }
})

t.test('a limit on silence begins anew with each sign of life', async (t) => {
  const clock = fakeClock()
  let alive = () => {}
  let error: unknown
  withDeadline({ clock, ms: 100 }, (_signal, renew) => {
    alive = renew
    return never()
  }).catch((reason) => (error = reason))
  for (let round = 0; round < 5; round++) {
    await clock.advance(90)
    alive()
  }
  await clock.advance(99)
  t.equal(error, undefined)
  await clock.advance(1)
  t.match(error, timeout)
})

t.test('aborted work gets time to clean up, and is abandoned after it', async (t) => {
  const clock = fakeClock()
  const cleaned = Promise.withResolvers<void>()
  let error: unknown
  withDeadline({ clock, ms: 100, settleMs: 50 }, () => cleaned.promise).catch((reason) => (error = reason))
  await clock.advance(149)
  t.equal(error, undefined)
  await clock.advance(1)
  t.match(error, timeout)

  const tidy = withDeadline({ clock, ms: 100, settleMs: 50 }, () => cleaned.promise)
  await clock.advance(120)
  cleaned.resolve()
  await t.rejects(tidy, timeout, 'a result after the limit does not count')
})

t.test('a stopped deadline aborts nothing', async (t) => {
  const clock = fakeClock()
  const aborts: unknown[] = []
  const start = () => startDeadline({ clock, ms: 10, message: 'Over.' }, (reason) => aborts.push(reason.message))
  start().stop()
  start()
  await clock.advance(20)
  t.same(aborts, ['Over.'])
})

t.test('a wait ends with what it waits for, with its time or with an abort', async (t) => {
  const clock = fakeClock()
  const caller = new AbortController()
  t.equal(await settlesWithin({ clock, ms: 10 }, Promise.resolve()), true)
  await t.rejects(settlesWithin({ clock, ms: 10 }, Promise.reject(new Error('failed'))), { message: 'failed' })
  const late = settlesWithin({ clock, ms: 10 }, never())
  await clock.advance(10)
  t.equal(await late, false)
  const waiting = settlesWithin({ clock, ms: 10, signal: caller.signal }, never())
  caller.abort()
  t.equal(await waiting, false)
})

t.test('the configuration directory is the chosen one, else one in the home of the user; without either a sentence says so', async (t) => {
  t.equal(homeFolder('some/folder'), resolve('some/folder'))
  t.equal(homeFolder(undefined), resolve(homedir(), '.local-agent'))
  const { HOME } = process.env
  t.teardown(() => {
    process.env.HOME = HOME
  })
  process.env.HOME = ''
  t.throws(() => homeFolder(undefined), { exitCode: 78, message: /set LOCAL_AGENT_HOME/ })
})

const limits = { longest: 1000, endless: 5000 }
async function read (chunks: Iterable<string | Buffer>, given = limits) {
  const lines: string[] = []
  const shown = (line: Line) => 'bytes' in line ? line.bytes.toString() : `${line.head.slice(0, 5)}…${line.tail.slice(-5)}`
  for await (const line of readLines(Readable.from(chunks, { objectMode: true }).map((chunk) => Buffer.from(chunk)), given)) {
    lines.push(shown(line))
  }
  return lines
}

t.test('lines come whole however they were cut, blank ones and an unfinished last one do not', async (t) => {
  t.same(await read(['a\nbc', 'd', '', '\n\nü'.slice(0, 2), 'é\nlast']), ['a', 'bcd', 'é'])
  const bytes = Buffer.from('größe\n😀\n')
  t.same(await read(Array.from(bytes, (byte) => Buffer.of(byte))), ['größe', '😀'])
})

t.test('a line that is too long is known by its ends, and the next one is read as ever', async (t) => {
  const long = `START${'x'.repeat(2000)}END..`
  t.same(await read([`${long}\nnext\n`]), ['START…END..', 'next'])
  t.same(await read([...`${long}\nnext\n`]), ['START…END..', 'next'])
  t.same(await read([`${'y'.repeat(1000)}\n`]), ['y'.repeat(1000)], 'what just fits is whole')
})

t.test('a line without end is given up, in memory that does not grow with it', async (t) => {
  let made = 0
  let most = 0
  function * flood () {
    for (;;) {
      made += 65_536
      most = Math.max(most, process.memoryUsage().arrayBuffers)
      yield 'x'.repeat(65_536)
    }
  }
  const before = process.memoryUsage().arrayBuffers
  const error = await read(flood(), { longest: 8 * 1024 * 1024, endless: 256 * 1024 * 1024 }).catch((error) => error)
  t.ok(error instanceof EndlessLine)
  t.ok(made >= 256 * 1024 * 1024)
  t.ok(most - before < 128 * 1024 * 1024, `${most - before} bytes`)
})

t.test('secrets are those of all who hold some, asked anew each time', async (t) => {
  const secrets = createSecrets('token', undefined)
  const held = ['one']
  secrets.add(() => held)
  held.push('two', 'token', '')
  t.same(secrets.all(), ['token', 'one', 'two'])
})

t.test('a text loses every secret, also as JSON writes it; what is too short to tell stays', async (t) => {
  t.equal(
    redacted('a long-secret-2, long-secret, say \\"it\\\\', ['long-secret', 'long-secret-2', 'say "it\\', 'a']),
    'a [secret], [secret], [secret]'
  )
})

t.test('one striker does for any number of texts, and knows whether there is anything to do', async (t) => {
  const { redact, isIn } = createRedactor(['say "it\\', 'long-secret'])
  t.same(['long-secret', 'short', 'a say "it\\'].map(redact), ['[secret]', 'short', 'a [secret]'])
  t.same(
    [{ 'a long-secret': 1 }, ['say "it\\'], [Buffer.from('long-secret').toString('base64')], ['nothing']].map((value) =>
      isIn(JSON.stringify(value))
    ),
    [true, true, true, false]
  )
})

t.test('half a character in a secret is no obstacle', async (t) => {
  t.equal(
    redacted('of half-\ud800-secret, JSON "half-\\ud800-secret" and %68', ['half-\ud800-secret']),
    'of [secret], JSON "[secret]" and %68'
  )
})

t.test('no line of the log holds a secret', async (t) => {
  const log = new PassThrough()
  const app = await build(t, { token: 'the-"quoted"-token', log })
  app.secrets.add(() => ['held-by-another'])
  app.log.error({ err: new Error('refused the-"quoted"-token') }, 'with held-by-another in it')
  log.end()
  const written = await text(log)
  t.match(written, /refused \[secret\].*with \[secret\] in it/)
  t.notMatch(written, /quoted|held-by/)
})

const nothing = async () => ({})
const ENV = { LOCAL_AGENT_TOKEN: 'env-token', LOCAL_AGENT_PASSPHRASE: 'env-passphrase', AI_GATEWAY_API_KEY: 'env-key' }

t.test('what standard input hands over wins over the environment, field by field', async (t) => {
  const given = { token: 'given-token', gatewayKey: 'given-key', keys: { openai: 'k' } }
  t.match(await readOptions(['--stdin'], ENV, async () => given), { ...given, passphrase: 'env-passphrase' })
  t.match(await readOptions(['--stdin'], ENV, async () => ({ passphrase: 'given-passphrase' })), {
    token: 'env-token',
    passphrase: 'given-passphrase',
    gatewayKey: 'env-key',
    keys: undefined
  })
})

t.test('standard input is read only when --stdin says so, and not for help or senseless arguments', async (t) => {
  const never = async () => {
    throw new Error('it was read')
  }
  t.match(await readOptions([], ENV, never), { token: 'env-token' })
  t.type(await readOptions(['--stdin', '--help'], {}, never), 'string')
  for (const args of [['--stdin', '--port', 'x'], ['--stdin', '--parent-pid', 'x'], ['--stdin', '--nonsense'], ['--stdin=x']]) {
    await t.rejects(readOptions(args, {}, never), { message: /^(?!it was read)/ })
  }
})

t.test('a token from standard input lets the service listen elsewhere, and is checked like that of the environment', async (t) => {
  t.match(await readOptions(['--stdin', '--host', '0.0.0.0'], {}, async () => ({ token: 'x' })), { host: '0.0.0.0', token: 'x' })
  await t.rejects(readOptions(['--stdin', '--host', '0.0.0.0'], {}, nothing), {
    message: /--host 0\.0\.0\.0 would allow access from other machines/
  })
  for (const token of ['hidden\n', ' hidden', '\u0000hidden']) {
    const error = await readOptions(['--stdin'], {}, async () => ({ token })).catch((error) => error)
    t.match(error, { exitCode: 64, message: /^The token on standard input begins or ends with a space/ })
    t.notMatch(error.message, /hidden/)
  }
})

t.test('--parent-pid is the id of a process', async (t) => {
  t.match(await readOptions(['--parent-pid', '4711'], {}, nothing), { parentPid: 4711 })
  t.match(await readOptions([], {}, nothing), { parentPid: undefined })
  for (const text of ['', '0', '-1', '1.5', '0x10', '1e3', ' 1', 'shell', '99999999999']) {
    await t.rejects(readOptions([`--parent-pid=${text}`], {}, nothing), { message: /--parent-pid must be the id of a process/ }, text)
  }
})

t.test('a file is what its bytes say, then what its sender or its name says, and nothing that it only pretends to be', (t) => {
  const brand = (name: string) => `\0\0\0\x18ftyp${name}`
  const cases: Array<[bytes: string, said: { declared?: string, name?: string }, type: string]> = [
    ['\x89PNG\r\n\x1a\n', { declared: 'text/plain' }, 'image/png'],
    ['GIF89a', {}, 'image/gif'],
    ['RIFF    WEBP', {}, 'image/webp'],
    ['RIFF    WAVE', {}, 'audio/wav'],
    ['BM\x10\0\0\0          ', {}, 'image/bmp'],
    ['MM\0*', {}, 'image/tiff'],
    [brand('heic'), {}, 'image/heic'],
    [brand('avif'), {}, 'image/avif'],
    [brand('isom'), { declared: 'audio/mp4' }, 'audio/mp4'],
    [brand('isom'), { declared: 'image/png' }, 'video/mp4'],
    ['ID3', {}, 'audio/mpeg'],
    ['OggS', {}, 'audio/ogg'],
    ['fLaC', {}, 'audio/flac'],
    ['\x1aE\xdf\xa3', {}, 'video/webm'],
    ['junk', { declared: 'image/jpg' }, OCTETS],
    ['PK\x03\x04', {}, 'application/zip'],
    ['PK\x05\x06 xl/workbook.xml', {}, 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
    ['junk', { name: 'letter.docx' }, OCTETS],
    ['\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', {}, 'application/x-ole-storage'],
    ['a,b', { declared: 'text/plain; charset=utf-8', name: 'a.csv' }, 'text/csv'],
    ['\0\0', { declared: 'text/plain' }, OCTETS],
    ['\xff\xfea\0', { declared: 'text/plain' }, 'text/plain'],
    ['a', { declared: 'application/x-own' }, 'application/x-own'],
    ['a', {}, 'text/plain'],
    ['a', { name: 'notes.constructor' }, 'text/plain'],
    ['\0', {}, OCTETS]
  ]
  const browsers: typeof cases = [
    ['export const a = 1\n', { declared: 'video/mp2t', name: 'a.ts' }, 'text/x-typescript'],
    ['a;b\n1;2\n', { declared: 'application/vnd.ms-excel', name: 'd.csv' }, 'text/csv'],
    ['fn main() {}\n', { declared: 'application/rls-services+xml', name: 'm.rs' }, 'application/rls-services+xml'],
    ['package main\n', { declared: 'application/x-go', name: 'm.go' }, 'text/plain'],
    ['G\x1f\0\x10', { declared: 'video/mp2t', name: 'film.ts' }, 'video/mp2t'],
    ['\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', { declared: 'application/vnd.ms-excel', name: 'd.csv' }, 'application/x-ole-storage']
  ]
  cases.push(...browsers)
  for (const [bytes, said, type] of cases) t.equal(mediaTypeOf(Buffer.from(bytes, 'latin1'), said), type, JSON.stringify([bytes, said]))
  t.same(['application/pdf', 'application/ld+json', 'video/mp4'].map(textKindOf), ['pdf', 'plain', undefined])
  const digest = 'a'.repeat(32)
  const addresses = [`attachment:${digest}`, new URL(`attachment:${digest}`), 'attachment:x', 5]
  t.same(addresses.map(digestIn), [digest, digest, undefined, undefined])
  t.end()
})

t.test('a Node.js that is older than the newest release of its line is said to be so', async (t) => {
  for (const version of ['24.0.0', '22.18.0', '26.9.9', '23.11.0']) t.match(oldNode(version), version, version)
  for (const version of ['24.21.0', '24.99.0', '26.10.0', '27.0.0']) t.equal(oldNode(version), undefined, version)
  t.equal(oldNode(process.versions.node), undefined, 'the pinned one is the newest that is known')
})
