import { createHash } from 'node:crypto'
import { closeSync, openSync, realpathSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { encode } from 'fast-png'
import t, { type Test } from 'tap'
import { systemClock } from '../../../services/lib/clock.ts'
import { readOffice } from '../../../services/tools/transform/office-text.ts'
import { createTransform } from '../../../services/tools/transform/transform.ts'
import { makeOffice, officeBomb } from '../../harness/attached-files.ts'
import { makePdf, pdfBomb } from '../../harness/pdf.ts'
import { build, transform } from './helper.ts'

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

t.teardown(transform.close)

function layDocuments (t: Test, files: Record<string, Uint8Array | string>) {
  const workspace = realpathSync(t.testdir({}))
  for (const [name, content] of Object.entries(files)) writeFileSync(join(workspace, name), content)
  const tools = build({ workspace })
  const read = (path: string, rest: object = {}) => tools.output('readFile', { path, ...rest })
  return {
    at: (path: string) => join(workspace, path),
    read,
    refused: (path: string, rest: object = {}) => tools.failure('readFile', { path, ...rest }),
    seen: async (path: string, rest: object = {}) => tools.host.forModel(await read(path, rest), 'readFile') as any
  }
}

t.test('a PDF is read as text, page by page', async (t) => {
  const pages = ['First page\nwith (two) lines', 'Second page', 'Third: caf\xe9']
  const { at, read, seen } = layDocuments(t, { 'a.pdf': makePdf(pages, { title: 'A report' }), 'scan.pdf': makePdf(['', '']) })
  const { size, ...answer } = await read('a.pdf')
  t.strictSame(answer, {
    path: at('a.pdf'),
    mimeType: 'application/pdf',
    title: 'A report',
    totalPages: 3,
    content: pages.join('\f'),
    startPage: 1,
    endPage: 3
  })
  t.ok(size > 0)
  t.equal((await seen('a.pdf')).value.content, `[page 1]\n${pages[0]}\n[page 2]\n${pages[1]}\n[page 3]\n${pages[2]}`)
  t.match(await read('a.pdf', { offset: 2, limit: 1 }), {
    content: 'Second page',
    startPage: 2,
    endPage: 2,
    truncated: true,
    nextOffset: 3,
    message: 'These are the pages 2 to 2 of 3. Read on with offset 3.'
  })
  t.match(await read('a.pdf', { offset: 9 }), { content: '', message: 'There is no page 9: the document ends with page 3.' })
  t.match(await read('scan.pdf'), { message: /no text in these pages: they may be scanned/ })
})

t.test('a long PDF is read in parts, and every character can be reached', async (t) => {
  const pages = Array.from({ length: 30 }, (_, n) => `page ${n + 1}\n${`${'word '.repeat(20)}end\n`.repeat(n === 7 ? 600 : 30)}end`)
  const { read } = layDocuments(t, { 'long.pdf': makePdf(pages) })
  const texts: string[] = []
  let next: any = {}
  for (let at = 0; next !== undefined && at < 20; at++) {
    const { content, nextOffset, nextColumn } = await read('long.pdf', next)
    const parts = content.split('\f')
    if (next.column) texts[texts.length - 1] += parts.shift()
    texts.push(...parts)
    t.ok(JSON.stringify(content).length < 48 * 1024)
    next = nextOffset === undefined ? undefined : { offset: nextOffset, ...nextColumn && { column: nextColumn } }
  }
  t.same(texts, pages)
})

t.test('hostile PDFs are bounded: compressed a thousandfold, cut off, nonsense', { timeout: 60_000 }, async (t) => {
  const whole = makePdf(['Some text'])
  const { at, refused, read } = layDocuments(t, {
    bomb: pdfBomb(450),
    nonsense: '%PDF-1.7\nnothing',
    cut: whole.subarray(0, -20),
    good: whole
  })
  const before = process.memoryUsage.rss()
  t.match(await refused('bomb'), /could not be turned into pdf: it took (?:too much memory|longer than 10 s)/)
  t.ok(process.memoryUsage.rss() - before < 1.2e9, 'memory is bounded')
  t.match(await refused('nonsense'), /could not be turned into pdf: Invalid PDF structure\.$/)
  t.match(await read('cut'), { content: 'Some text' }, 'what can be read is read')
  t.match(await read('good'), { content: 'Some text' }, 'the next one is read')
  truncateSync(at('good'), 2 * 1024 ** 3)
  t.match(await refused('good'), /is a PDF of 2147483648 bytes; at most 10485760 can be read/)
})

t.test('an image is answered as an image, which models see', async (t) => {
  const png = encode({ width: 3, height: 2, data: new Uint8Array(18), channels: 3 })
  const gif = Buffer.from('474946383961020003000000002c0000000002000300000002', 'hex')
  const jpeg = Buffer.from('ffd8ffe000104a46494600010100000100010000ffc0000b080005000401011100', 'hex')
  const webp = Buffer.from(`52494646 24000000 57454250 56503858 0a000000 00000000 ${'060000'}${'040000'}`.replaceAll(' ', ''), 'hex')
  const { read, seen } = layDocuments(t, { 'a.png': png, 'a.gif': gif, 'misnamed.txt': jpeg, 'a.webp': webp })
  const data = Buffer.from(png).toString('base64')
  t.match(await read('a.png'), {
    mimeType: 'image/png',
    width: 3,
    height: 2,
    size: png.length,
    content: [{ type: 'image', mimeType: 'image/png', data }]
  })
  t.match((await seen('a.png')).value[1], { type: 'file', mediaType: 'image/png', data: { type: 'data', data } })
  t.match(await read('a.gif'), { mimeType: 'image/gif', width: 2, height: 3 })
  t.match(await read('misnamed.txt'), { mimeType: 'image/jpeg', width: 4, height: 5 })
  t.match(await read('a.webp'), { mimeType: 'image/webp', width: 7, height: 5 })
})

t.test('an image that a provider would refuse is not shown', async (t) => {
  const png = Buffer.from(encode({ width: 1, height: 1, data: new Uint8Array(3), channels: 3 }))
  const wide = Buffer.from(png)
  wide.writeUInt32BE(9_000, 16)
  const { refused } = layDocuments(t, { 'large.png': Buffer.concat([png, Buffer.alloc(4_000_000)]), 'wide.png': wide })
  t.match(await refused('large.png'), /is an image \(image\/png, 1 × 1 pixels, 40000\d\d bytes\) too large to be shown/)
  t.match(await refused('wide.png'), /9000 × 1 pixels.*Make a smaller copy/)
})

t.test('another binary file is refused with what it is', async (t) => {
  const { refused, read } = layDocuments(t, {
    zip: Buffer.from('PK\x03\x04\0\0'),
    program: Buffer.from('\x7fELF\0\0'),
    unknown: Buffer.from([0x89, 0x50, 0, 1]),
    compressed: Buffer.from(Array.from({ length: 500 }, (_, n) => 1 + (n * 97) % 255)),
    latin1: Buffer.from('caf\xe9\n', 'latin1'),
    broken: Buffer.concat([Buffer.from('é'.repeat(20)), Buffer.from([0xff])])
  })
  t.equal(
    await refused('zip'),
    '"zip" is a ZIP archive of 6 bytes, not text. readFile reads text, PDF and PNG, JPEG, GIF and WebP images only.'
  )
  t.match(await refused('program'), /is a program \(ELF\)/)
  t.match(await refused('unknown'), /is a binary file of 4 bytes/)
  t.match(await refused('compressed'), /is a binary file/)
  t.match(await read('latin1'), { content: 'café\n', encoding: 'windows-1252' })
  t.match(await read('broken'), { content: `${'é'.repeat(20)}\ufffd`, lossy: true })
})

const MIB = 1024 * 1024
const mostCharacters = 10_000

t.test('the texts of documents are read in their order, without what is deleted or runs', (t) => {
  const docx = makeOffice.docx('First & second\nthird', { parts: { 'word/vbaProject.bin': Buffer.from('Sub AutoOpen() heron End Sub') } })
  t.equal(readOffice({ bytes: docx, format: 'docx', mostCharacters }), 'First & second\nthird')
  const xlsx = makeOffice.xlsx([['name', 'price'], ['tea <green>', '3']])
  const cells = '[Sheet "Costs & more"]\nname\tprice\t\t\t0.5\ntea <green>\t3\t\t\t1.5'
  t.equal(readOffice({ bytes: xlsx, format: 'xlsx', mostCharacters }), cells)
  const slides = Array.from({ length: 11 }, (_, n) => `slide ${n + 1}`)
  const pptx = readOffice({ bytes: makeOffice.pptx(slides), format: 'pptx', mostCharacters })
  t.same(pptx.match(/slide \d+/g), slides, 'the tenth after the ninth')
  t.equal(readOffice({ bytes: makeOffice.odt('a b\nc', { deleted: 'gone' }), format: 'odt', mostCharacters }), 'a b\nc')
  t.equal(readOffice({ bytes: docx, format: 'docx', mostCharacters: 5 }), 'First')
  const table = makeOffice.docx('Prices', { table: [['tea', '3'], ['rum', '12']] })
  t.equal(readOffice({ bytes: table, format: 'docx', mostCharacters }), 'Prices\ntea \t3\nrum \t12')
  const part = Buffer.from('<w:document><w:p><w:t>a &amp; b &toString; &#x20ac;</w:t><w:noBreakHyphen/><w:t>5</w:t></w:p></w:document>')
  const own = makeOffice.docx('', { parts: { 'word/document.xml': part } })
  t.equal(readOffice({ bytes: own, format: 'docx', mostCharacters }), 'a & b &toString; €-5', 'what a document defines itself stays')
  t.end()
})

t.test('cells of a row stand apart, also without references and behind many others', (t) => {
  const textOf = (rows: string) => {
    const bytes = makeOffice.xlsx([], { 'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${rows}</sheetData></worksheet>` })
    return readOffice({ bytes, format: 'xlsx', mostCharacters }).replace(/^.*\n/, '')
  }
  t.equal(textOf('<row><c><v>1</v></c><c><v>2</v></c></row><row><c r="B2"><v>3</v></c><c/><c><v>4</v></c></row>'), '1\t2\n\t3\t\t4')
  const wide = Array.from({ length: 300 }, (_, n) => n)
  t.equal(textOf(`<row>${wide.map((n) => `<c r="${n < 26 ? '' : String.fromCharCode(64 + Math.floor(n / 26))}${
    String.fromCharCode(65 + n % 26)}1"><v>${n}</v></c>`).join('')}</row>`), wide.join('\t'))
  t.equal(textOf('<row><c r="A1"><v>1</v></c><c r="XFD1"><v>2</v></c></row>'), `1${'\t'.repeat(256)}2`)
  t.end()
})

t.test('a spreadsheet whose names have a prefix is read', (t) => {
  const bytes = makeOffice.xlsx([], {
    'xl/workbook.xml': '<x:workbook><x:sheets><x:sheet name="Costs" sheetId="1" r:id="rId1"/></x:sheets></x:workbook>',
    'xl/sharedStrings.xml': '<x:sst><x:si><x:t>tea</x:t></x:si></x:sst>',
    'xl/worksheets/sheet1.xml': '<x:worksheet><x:sheetData><x:row r="1"><x:c r="A1" t="s"><x:v>0</x:v></x:c>' +
      '<x:c r="B1"><x:v>2</x:v></x:c></x:row></x:sheetData></x:worksheet>'
  })
  t.equal(readOffice({ bytes, format: 'xlsx', mostCharacters }), '[Sheet "Costs"]\ntea\t2')
  t.end()
})

t.test('notes of a presentation stand with the slide that they belong to', (t) => {
  const bytes = makeOffice.pptx(['one', 'two', 'three'], {
    'ppt/slides/_rels/slide2.xml.rels': '<Relationships><Relationship Id="rId1" Target="../slideLayouts/slideLayout1.xml"/>' +
      '<Relationship Id="rId2" Target="../notesSlides/notesSlide1.xml"/></Relationships>',
    'ppt/notesSlides/notesSlide1.xml': '<p:notes><a:p><a:t>about two</a:t></a:p></p:notes>'
  })
  const text = '[Slide 1]\none\n\n[Slide 2]\ntwo\n\n[Notes]\nabout two\n\n[Slide 3]\nthree'
  t.equal(readOffice({ bytes, format: 'pptx', mostCharacters }), text)
  t.end()
})

t.test('what is damaged, locked or too large is refused with a reason', (t) => {
  const docx = makeOffice.docx('words '.repeat(1_000))
  const spoilt = Buffer.from(docx)
  spoilt.fill(0xff, docx.indexOf('word/document.xml') + 20, docx.indexOf('word/document.xml') + 60)
  const refused: Array<[bytes: Buffer, format: 'docx' | 'odt', reason: RegExp]> = [
    [docx.subarray(0, 300), 'docx', /damaged/],
    [spoilt, 'docx', /damaged/],
    [makeOffice.odt('x'), 'docx', /damaged: it holds nothing/],
    [makeOffice.odt('x', { manifest: '<manifest:encryption-data/>' }), 'odt', /password/],
    [officeBomb(33 * MIB), 'docx', /larger than 32 MiB when unpacked/]
  ]
  for (const [bytes, format, reason] of refused) t.throws(() => readOffice({ bytes, format, mostCharacters }), reason)
  // A directory that states less than there is gets no more room than it states.
  t.equal(readOffice({ bytes: officeBomb(1_000), format: 'docx', mostCharacters }), '')
  t.end()
})

t.test('the worker says why, and stays usable', async (t) => {
  const transform = createTransform({ clock: systemClock })
  t.teardown(transform.close)
  const { signal } = new AbortController()
  const read = (bytes: Buffer) => transform.run('office', { bytes, format: 'docx', mostCharacters }, { signal })
  await t.rejects(read(officeBomb(101 * MIB)), { message: /larger than 100 MiB when unpacked/ })
  t.equal(await read(makeOffice.docx('still here')), 'still here')
})
