import t from 'tap'
import { readOffice } from '../../../services/tools/transform/office-text.ts'
import { createTransform } from '../../../services/tools/transform/transform.ts'
import { systemClock } from '../../../services/lib/clock.ts'
import { makeOffice, officeBomb } from '../../harness/attached-files.ts'

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
  t.equal(readOffice({ bytes: makeOffice.odt('a b\nc'), format: 'odt', mostCharacters }), 'a b\nc')
  t.equal(readOffice({ bytes: docx, format: 'docx', mostCharacters: 5 }), 'First')
  const table = makeOffice.docx('Prices', { table: [['tea', '3'], ['rum', '12']] })
  t.equal(readOffice({ bytes: table, format: 'docx', mostCharacters }), 'Prices\ntea \t3\nrum \t12')
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
    [makeOffice.odt('x', '<manifest:encryption-data/>'), 'odt', /password/],
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
