import { existsSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { execFileSync } from 'node:child_process'
import { systemClock } from '../../../services/lib/clock.ts'
import { logFile, rotatingFile } from '../../../services/log/rotating-file.ts'
import { createServiceLog } from '../../../services/log/service-log.ts'
import { type Sink, createSink, type Target } from '../../../services/log/sink.ts'
import { prettyLine } from '../../../services/log/pretty-line.ts'
import { fakeClock } from '../../harness/clock.ts'

function collecting () {
  const lines: string[] = []
  const stderr: Sink = { write: (line) => { lines.push(line) }, flush: async () => true, hangs: () => false }
  return { lines, stderr }
}

t.test('writes to stderr as its format says, and to a file as JSON', async (t) => {
  const dir = t.testdir()
  const { lines, stderr } = collecting()
  const log = createServiceLog({ stderr, clock: systemClock, format: (line) => line.toUpperCase() })
  log.write('{"a":1}\n')
  log.useFile(logFile(dir, { file: 'a.log' }))
  log.write('{"b":2}\n')
  await log.flushFile(5_000)
  t.same(lines, ['{"A":1}\n', '{"B":2}\n'])
  t.equal(readFileSync(`${dir}/a.log`, 'utf8'), '{"b":2}\n')
  t.equal(log.fileHangs(1_000), false)
})

t.test('a change of the configuration changes the file, and the same one goes on', async (t) => {
  const dir = t.testdir()
  const { stderr } = collecting()
  const log = createServiceLog({ stderr, clock: systemClock })
  await log.flushFile(1)
  log.useFile(logFile(dir, { file: true }))
  log.write('1\n')
  log.useFile(logFile(dir, { file: true, keep: 5 }))
  log.write('2\n')
  await log.flushFile(5_000)
  log.useFile(logFile(dir, { file: 'other.log' }))
  log.write('3\n')
  await log.flushFile(5_000)
  log.useFile(logFile(dir))
  log.write('4\n')
  t.equal(readFileSync(`${dir}/logs/local-agent.log`, 'utf8'), '1\n2\n')
  t.equal(readFileSync(`${dir}/other.log`, 'utf8'), '3\n')
  t.notOk(existsSync(`${dir}/false`))
  t.equal(log.fileHangs(0), false)
})

const time = new Date(2026, 0, 2, 21, 4, 5).getTime()
const plain = (entry: object) => prettyLine(`${JSON.stringify({ level: 30, time, pid: 1, hostname: 'h', ...entry })}\n`, { colours: false })

t.test('shows time, level, message and fields', async (t) => {
  t.equal(plain({ method: 'GET', path: '/tasks', ms: 12, msg: 'request' }), '21:04:05 info  request method=GET path=/tasks ms=12\n')
  t.equal(plain({ level: 50, msg: 'no', err: { stack: 'Error: x\n    at a' } }), '21:04:05 error no\n  Error: x\n      at a\n')
  t.match(prettyLine('{"level":40,"time":0,"msg":"careful"}\n'), /warn .* careful\n$/)
  t.ok(prettyLine('{"level":40,"time":0,"msg":"careful"}\n').includes('\u001b[33mwarn'), 'coloured')
})

t.test('what is no line of the log stays as it is', async (t) => {
  t.equal(prettyLine('Usage: no such option\n'), 'Usage: no such option\n')
  t.equal(prettyLine('{"level": broken\n'), '{"level": broken\n')
})

t.test('shows no character that a terminal would act on', async (t) => {
  const hostile = 'a\u001b]0;owned\u0007\u009b2J\r\u202eb'
  const shown = plain({ msg: hostile, path: hostile, err: { stack: hostile } })
  t.notMatch(shown, /(?!\n)[\p{Cc}\p{Bidi_Control}]/u)
  t.match(shown, /a\\u001b\]0;owned\\u0007\\u009b2J\\u000d\\u202eb/)
  t.equal(prettyLine('not JSON \u001b[2J\n'), 'not JSON \\u001b[2J\n')
})

const posix = process.platform === 'win32' && 'uses modes and links'
const line = (n: number) => Buffer.from(`${String(n).padStart(9, '0')}\n`)

t.test('begins a new file when one is full, and keeps the newest', async (t) => {
  const dir = t.testdir()
  const path = `${dir}/logs/a.log`
  const file = rotatingFile({ path, maxBytes: 30, keep: 2 })
  for (let n = 0; n < 11; n++) t.equal(await file.write(line(n)), 10)
  await file.close()
  const numbers = (name: string) => readFileSync(name, 'utf8').trim().split('\n').map(Number)
  t.same([path, `${path}.1`, `${path}.2`].map(numbers), [[9, 10], [6, 7, 8], [3, 4, 5]])
  t.same(readdirSync(`${dir}/logs`).sort(), ['a.log', 'a.log.1', 'a.log.2'])

  const again = rotatingFile({ path, maxBytes: 30, keep: 2 })
  await again.write(line(11))
  await again.write(line(12))
  await again.close()
  t.same([path, `${path}.1`].map(numbers), [[12], [9, 10, 11]], 'goes on with a file of before')
})

t.test('keeps no older file when none is wanted, and writes a line that is larger than a file', async (t) => {
  const path = `${t.testdir()}/a.log`
  const file = rotatingFile({ path, maxBytes: 15, keep: 0 })
  await file.write(line(1))
  await file.write(Buffer.alloc(40, 'x'))
  await file.write(line(2))
  await file.close()
  t.equal(readFileSync(path, 'utf8'), line(2).toString())
  t.notOk(existsSync(`${path}.1`))
})

t.test('only the user can read it, and it is never a link or a pipe', { skip: posix }, async (t) => {
  const dir = t.testdir({ target: 'mine' })
  const file = rotatingFile({ path: `${dir}/a.log`, maxBytes: 100, keep: 1 })
  await file.write(line(1))
  t.equal(statSync(`${dir}/a.log`).mode & 0o777, 0o600)
  await file.close()
  symlinkSync(`${dir}/target`, `${dir}/link.log`)
  await t.rejects(rotatingFile({ path: `${dir}/link.log`, maxBytes: 100, keep: 1 }).write(line(1)), { code: 'ELOOP' })
  t.equal(readFileSync(`${dir}/target`, 'utf8'), 'mine')
  execFileSync('mkfifo', [`${dir}/pipe.log`])
  await t.rejects(rotatingFile({ path: `${dir}/pipe.log`, maxBytes: 100, keep: 1 }).write(line(1)), { code: 'ENXIO' })
})

t.test('opens the file again after a failure', async (t) => {
  const dir = t.testdir({ logs: 'a file where the folder belongs' })
  const file = rotatingFile({ path: `${dir}/logs/a.log`, maxBytes: 100, keep: 1 })
  await t.rejects(file.write(line(1)))
  execFileSync('rm', [`${dir}/logs`])
  t.equal(await file.write(line(1)), 10)
  await file.close()
  t.equal(readFileSync(`${dir}/logs/a.log`, 'utf8'), line(1).toString())
})

t.test('a removed file does not stop it', async (t) => {
  const dir = t.testdir({ 'a.log': '' })
  const file = rotatingFile({ path: `${dir}/a.log`, maxBytes: 15, keep: 1 })
  await file.write(line(1))
  execFileSync('rm', [`${dir}/a.log`])
  writeFileSync(`${dir}/a.log.1`, 'older')
  await file.write(line(2))
  await file.close()
  t.equal(readFileSync(`${dir}/a.log`, 'utf8'), line(2).toString())
})

t.test('a folder that was removed, or a file that was moved away, is made anew', { skip: posix }, async (t) => {
  const dir = t.testdir()
  const path = `${dir}/logs/a.log`
  const file = rotatingFile({ path, maxBytes: 1000, keep: 1 })
  await file.write(line(1))
  execFileSync('rm', ['-r', `${dir}/logs`])
  await file.write(line(2))
  t.equal(readFileSync(path, 'utf8'), line(2).toString())
  execFileSync('mv', [path, `${path}.moved`])
  await file.write(line(3))
  await file.close()
  t.equal(readFileSync(path, 'utf8'), line(3).toString())
})

const MIB = 1_048_576

/** A sink before a target that does what the test says: each write is put in `calls`, and ends when the test ends it. */
function held (holdsThread = false) {
  const calls: { text: string, resolve: (count: number) => void, reject: (error: Error) => void }[] = []
  const target: Target = {
    holdsThread,
    write: (bytes) => new Promise((resolve, reject) => calls.push({ text: Buffer.from(bytes).toString(), resolve, reject }))
  }
  const clock = fakeClock()
  const sink = createSink({ target, clock, describeLoss: (lost) => `lost ${lost}\n` })
  /** Ends the write under way, all of it or so many bytes. */
  const wrote = async (count?: number) => {
    const call = calls.at(-1)!
    call.resolve(count ?? Buffer.byteLength(call.text))
    await clock.advance(0)
  }
  return { sink, clock, calls, wrote, texts: () => calls.map(({ text }) => text) }
}

t.test('a line is given to the target at once, those that come meanwhile together', async (t) => {
  const { sink, wrote, texts } = held()
  sink.write('a\n')
  t.same(texts(), ['a\n'])
  sink.write('ö\n')
  sink.write('c\n')
  await wrote()
  t.same(texts(), ['a\n', 'ö\nc\n'])
})

t.test('what was written in part goes on where it was cut', async (t) => {
  const { sink, wrote, texts } = held()
  sink.write('abcdef\n')
  await wrote(3)
  t.same(texts(), ['abcdef\n', 'def\n'])
})

t.test('a failed write is tried again later, or when a flush asks for it', async (t) => {
  const { sink, clock, calls, texts } = held()
  const fail = async () => {
    calls.at(-1)!.reject(new Error('no space left'))
    await clock.advance(0)
  }
  sink.write('a\n')
  await fail()
  t.equal(calls.length, 1)
  await clock.advance(500)
  t.same(texts(), ['a\n', 'a\n'])
  await fail()
  const flushed = sink.flush(1_000)
  await clock.advance(0)
  t.equal(calls.length, 3)
  await fail()
  t.equal(await flushed, false, 'it does not wait for what fails')
})

t.test('beyond 1 MiB lines are dropped, and counted in a line after those before', async (t) => {
  const { sink, calls, wrote, texts } = held()
  const line = `${'x'.repeat(1023)}\n`
  for (let n = 0; n < 1024; n++) sink.write(line)
  sink.write('too much\n')
  await wrote()
  sink.write('as long as not all is written\n')
  const flushed = sink.flush(1_000)
  while (!/lost/.test(calls.at(-1)!.text)) await wrote()
  t.same(texts().slice(-1), ['lost 2\n'])
  t.equal(texts().slice(0, -1).join('').length, MIB)
  sink.write('again\n')
  await wrote()
  t.equal(await flushed, true, 'a flush waits for that line, too')
  t.equal(texts().at(-1), 'again\n')
})

t.test('a flush ends when what was there is written, whatever has come since, and else after its time', async (t) => {
  const { sink, clock, wrote } = held()
  t.equal(await sink.flush(0), true)
  sink.write('a\n')
  const first = sink.flush(1_000)
  sink.write('b\n')
  await wrote()
  t.equal(await first, true)
  const second = sink.flush(1_000)
  await clock.advance(1_000)
  t.equal(await second, false)
})

t.test('a write that holds a thread too long is told', async (t) => {
  for (const [holdsThread, hangs] of [[true, true], [false, false]]) {
    const { sink, clock, wrote } = held(holdsThread)
    sink.write('a\n')
    t.equal(sink.hangs(100), false)
    await clock.advance(100)
    t.equal(sink.hangs(100), hangs)
    await wrote()
    t.equal(sink.hangs(0), false)
  }
})
