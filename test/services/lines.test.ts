import { Readable } from 'node:stream'
import t from 'tap'
import { EndlessLine, readLines, type Line } from '../../services/lib/line-reader.ts'

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
