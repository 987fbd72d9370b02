import t from 'tap'
import { createSink, type Target } from '../../../services/log/sink.ts'
import { fakeClock } from '../../harness/clock.ts'

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
