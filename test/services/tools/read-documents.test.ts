import { realpathSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { encode } from 'fast-png'
import t, { type Test } from 'tap'
import { makePdf, pdfBomb } from '../../harness/pdf.ts'
import { build, transform } from './helper.ts'

t.teardown(transform.close)

function lay (t: Test, files: Record<string, Uint8Array | string>) {
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
  const { at, read, seen } = lay(t, { 'a.pdf': makePdf(pages, { title: 'A report' }), 'scan.pdf': makePdf(['', '']) })
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
  const { read } = lay(t, { 'long.pdf': makePdf(pages) })
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
  const { at, refused, read } = lay(t, { bomb: pdfBomb(450), nonsense: '%PDF-1.7\nnothing', cut: whole.subarray(0, -20), good: whole })
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
  const { read, seen } = lay(t, { 'a.png': png, 'a.gif': gif, 'misnamed.txt': jpeg, 'a.webp': webp })
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
  const { refused } = lay(t, { 'large.png': Buffer.concat([png, Buffer.alloc(4_000_000)]), 'wide.png': wide })
  t.match(await refused('large.png'), /is an image \(image\/png, 1 × 1 pixels, 40000\d\d bytes\) too large to be shown/)
  t.match(await refused('wide.png'), /9000 × 1 pixels.*Make a smaller copy/)
})

t.test('another binary file is refused with what it is', async (t) => {
  const { refused, read } = lay(t, {
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
