import { createHash } from 'node:crypto'
import { closeSync, openSync, realpathSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { build } from './helper.ts'

const digest = (text: string) => createHash('sha256').update(text).digest('base64url').slice(0, 16)

function lay (t: Test, content: Parameters<Test['testdir']>[0] = {}) {
  const workspace = realpathSync(t.testdir(content))
  const host = build({ workspace })
  const read = (path: string, range: object = {}) => host.output('readFile', { path, ...range })
  /** What a model sees of an answer. */
  const seen = (output: any): any => (host.host.forModel(output, 'readFile') as any).value
  /** All answers that lead through a file, each read as the one before says. */
  async function all (path: string, range: object = {}): Promise<any[]> {
    const answers = [await read(path, range)]
    for (let last = answers[0]; last.nextOffset !== undefined; last = answers.at(-1)) {
      answers.push(
        await read(path, { ...range, offset: last.nextOffset, ...(last.nextColumn !== undefined && { column: last.nextColumn }) })
      )
    }
    return answers
  }
  return { workspace, ...host, read, seen, all, path: (name: string) => join(workspace, name) }
}

t.test('readFile answers the lines as they are, with their numbers beside them', async (t) => {
  const { path, read, seen } = lay(t, {
    a: 'one\ntwo\nthree',
    b: 'one\ntwo\n',
    empty: '',
    crlf: 'a\r\nb\r\n',
    bom: '\ufeffx',
    blank: '\n\n'
  })
  const a = await read('a')
  t.strictSame(a, {
    path: path('a'),
    content: 'one\ntwo\nthree',
    startLine: 1,
    endLine: 3,
    totalLines: 3,
    size: 13,
    digest: digest('one\ntwo\nthree')
  })
  t.strictSame(seen(a), { ...a, content: '1→one\n2→two\n3→three' }, 'a model sees each line with its number')
  t.match(await read('b'), { content: 'one\ntwo\n', endLine: 2, totalLines: 2 })
  t.strictSame(await read('empty'), { path: path('empty'), content: '', totalLines: 0, size: 0, digest: digest('') })
  t.match(await read('crlf'), { content: 'a\r\nb\r\n', totalLines: 2, lineEnds: 'crlf' })
  t.match(await read('bom'), { content: /^x$/, totalLines: 1, encoding: 'utf-8-bom' })
  t.equal(seen(await read('blank')).content, '1→\n2→\n')
})

t.test('readFile reads a range and says where to go on', async (t) => {
  const { read, seen } = lay(t, { a: '1\n2\n3\n4\n5\n' })
  t.match(await read('a', { limit: 2 }), {
    content: '1\n2\n',
    startLine: 1,
    endLine: 2,
    totalLines: 5,
    truncated: true,
    nextOffset: 3,
    message: 'These are the lines 1 to 2 of 5. Read on with offset 3.'
  })
  t.match(await read('a', { offset: 3, limit: 2 }), { content: '3\n4\n', startLine: 3, endLine: 4, nextOffset: 5 })
  t.equal(seen(await read('a', { offset: 3, limit: 2 })).content, '3→3\n4→4\n')
  const last = await read('a', { offset: 4, limit: 2 })
  t.match(last, { content: '4\n5\n' })
  for (const key of ['truncated', 'nextOffset', 'nextColumn', 'message']) t.notOk(key in last, key)
  t.match(await read('a', { offset: 9 }), { content: '', totalLines: 5, message: 'There is no line 9: the file ends with line 5.' })
  t.match(await read('a', { offset: 2, column: 3 }), { content: '', message: 'Line 2 ends before column 3.' })
  t.match(await read('a', { offset: 2, column: 2 }), { content: '\n3\n4\n5\n', startLine: 2, startColumn: 2 })
})

t.test('a long file is answered in parts of whole lines, which a model sees uncut', async (t) => {
  const { workspace, all, seen } = lay(t)
  const lines = Array.from({ length: 20_000 }, (_, n) => `line ${n + 1} with "quotes" and a \t\n`)
  writeFileSync(join(workspace, 'long'), lines.join(''))
  const answers = await all('long')
  t.equal(answers.map(({ content }) => content).join(''), lines.join(''))
  for (const answer of answers) {
    t.equal(answer.content, lines.slice(answer.startLine - 1, answer.endLine).join(''))
    t.equal(answer.totalLines, 20_000)
    t.equal(
      seen(answer).content,
      lines.slice(answer.startLine - 1, answer.endLine).map((line, n) => `${answer.startLine + n}→${line}`).join('')
    )
  }
  t.ok(answers.length > 5 && answers.length < 40)
  t.match(answers[0].message, /^These are the lines 1 to \d+ of 20000\. Read on with offset \d+\.$/)
})

t.test('every character of a file of one line can be reached', async (t) => {
  const { workspace, all, seen, read } = lay(t)
  const line = Array.from({ length: 100_000 }, (_, n) => `${n},"ü😀"`).join('')
  writeFileSync(join(workspace, 'line.json'), line)
  const answers = await all('line.json')
  t.equal(answers.map(({ content }) => content).join(''), line)
  t.match(answers[1], { startLine: 1, endLine: 1, startColumn: answers[0].nextColumn, totalLines: 1, nextOffset: 1 })
  t.match(answers[0].message, /^These are the characters 1 to \d+ of line 1 of 1\. Read on with offset 1 and column \d+\.$/)
  for (const answer of answers) t.ok(seen(answer).content.endsWith(answer.content) && !seen(answer).truncated?.json)
  const at = line.indexOf('😀') + 1
  t.match(await read('line.json', { column: at + 1 }), { startColumn: at + 2, content: /^"/ }, 'no character is split')
})

t.test('whatever a text holds, its parts are the text', async (t) => {
  const { workspace, all, seen } = lay(t)
  const unit = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 40 }),
    fc.constantFrom('\n', '\r\n', '\r', '\u2028', '7→', '\u001b', '\\', '\0')
  )
  const piece = fc.oneof({ weight: 9, arbitrary: unit }, {
    weight: 1,
    arbitrary: fc.tuple(unit, fc.integer({ min: 1, max: 9_000 })).map(([text, times]) => text.repeat(times))
  })
  const texts = fc.array(piece, { maxLength: 30 }).map((pieces) => `${'x'.repeat(8_000)}${pieces.join('')}`.toWellFormed())
  await fc.assert(
    fc.asyncProperty(texts, fc.option(fc.integer({ min: 20, max: 5_000 }), { nil: undefined }), async (text, limit) => {
      writeFileSync(join(workspace, 'any'), text)
      const answers = await all('any', limit === undefined ? {} : { limit })
      if (answers.map(({ content }) => content).join('') !== text) return false
      return answers.every((answer) => seen(answer).content.replace(/(?<![^\n])\d+→/g, '') === answer.content)
    }),
    { numRuns: 15 }
  )
})

t.test('a file of any length is read a piece at a time; lines far behind what is shown are not counted', async (t) => {
  const { workspace, read } = lay(t)
  const file = openSync(join(workspace, 'huge'), 'w')
  writeSync(file, '.\n'.repeat(500_000), 0)
  // A hole: it takes no space on the disk.
  writeSync(file, '\nlast\n', 200 * 1024 * 1024)
  closeSync(file)
  const early = await read('huge', { offset: 499_999, limit: 2 })
  t.match(early, {
    content: '.\n.\n',
    startLine: 499_999,
    endLine: 500_000,
    nextOffset: 500_001,
    size: 200 * 1024 * 1024 + 6,
    message: /lines were not counted\. Read on with offset 500001\.$/
  })
  t.notOk('totalLines' in early)
  t.match(await read('huge', { offset: 500_002 }), { content: 'last\n', startLine: 500_002, totalLines: 500_002 })
})
