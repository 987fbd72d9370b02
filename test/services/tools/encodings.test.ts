import { readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { guessEncoding } from '../../../services/tools/files/guess-encoding.ts'
import { encodeLegacy, type LegacyEncoding } from '../../../services/tools/files/legacy-encoding.ts'
import { TEXTS } from './cases/encodings.ts'
import { build, transform } from './helper.ts'

t.teardown(transform.close)

function toolsIn (t: Test) {
  const workspace = realpathSync(t.testdir({}))
  return { at: (path: string) => join(workspace, path), ...build({ workspace }) }
}

const rows = Object.entries(TEXTS).flatMap(([encoding, texts]) => texts.map((text) => [encoding as LegacyEncoding, text] as const))
const encode = (text: string, encoding: LegacyEncoding) => Buffer.from(encodeLegacy(text, encoding)!)

t.test(`the encodings of ${rows.length} texts are told apart, and what is read is written back to the byte`, async (t) => {
  const wrong: string[] = []
  for (const [encoding, text] of rows) {
    const bytes = encode(text, encoding)
    if (encoding !== 'windows-1252') t.equal(new TextDecoder(encoding, { fatal: true }).decode(bytes), text)
    const guess = guessEncoding(bytes)
    if (guess !== encoding) wrong.push(`${text}: ${guess}, not ${encoding}`)
  }
  // Two or three characters may be words of another language.
  t.ok(wrong.length <= 2, wrong.join('; '))
})

t.test('a text in an old encoding is read as what it most likely is, edited and replaced in it, and that is called a guess', async (t) => {
  const { at, output } = toolsIn(t)
  for (const [encoding, text, more] of [
    ['gbk', '会议改到星期五下午三点，请带上合同。\n', '谢谢'],
    ['big5', '會議改到星期五下午三點，請帶上合約。\n', '謝謝'],
    ['shift_jis', '会議は金曜日の午後三時に変更になりました。\n', 'ありがとう'],
    ['euc-kr', '회의가 금요일 오후 세 시로 변경되었습니다.\n', '감사합니다'],
    ['windows-1251', 'Встреча перенесена на пятницу, на три часа дня.\n', 'Спасибо'],
    ['windows-1250', 'Spotkanie zostało przesunięte na piątek. Proszę wziąć umowę.\n', 'Dziękuję']
  ] as const) {
    writeFileSync(at('a.txt'), encode(text, encoding))
    const form = { encoding, encodingIsGuess: true }
    t.match(await output('readFile', { path: 'a.txt' }), { content: text, ...form })
    t.match(await output('editFile', { path: 'a.txt', edits: [{ oldText: '\n', newText: ` ${more}\n` }] }), form)
    t.same(readFileSync(at('a.txt')), encode(text.replace('\n', ` ${more}\n`), encoding))
    t.match(await output('writeFile', { path: 'a.txt', content: `${more}\n` }), form)
    t.same(readFileSync(at('a.txt')), encode(`${more}\n`, encoding))
    writeFileSync(at('a.txt'), encode(text, encoding))
    t.match(await output('writeFile', { path: 'a.txt', content: '🙂\n' }), { message: new RegExp(`was ${encoding}, .* It is UTF-8 now`) })
    t.equal(readFileSync(at('a.txt'), 'utf8'), '🙂\n')
    writeFileSync(at('a.txt'), encode(text, encoding))
    t.match(await output('searchFiles', { pattern: text.slice(0, 4) }), { matches: [{ path: 'a.txt' }] })
  }
})

t.test('the sample of a large file ends at a whole character', async (t) => {
  const { at, output } = toolsIn(t)
  writeFileSync(at('large.txt'), `${'a'.repeat(256 * 1024 - 1)}é\n${`${'x'.repeat(1023)}\n`.repeat(10_300)}`)
  t.notOk('encoding' in await output('readFile', { path: 'large.txt', limit: 2 }), 'it is UTF-8')
})

t.test('writeFile keeps mixed line ends line by line, and gives a new line that of the line before it', async (t) => {
  const { at, output } = toolsIn(t)
  writeFileSync(at('mixed.txt'), 'a\r\nb\nc\r\nd\n')
  t.match(await output('writeFile', { path: 'mixed.txt', content: 'a\nb2\nc\nnew\nd\n' }), { lineEnds: 'mixed' })
  t.equal(readFileSync(at('mixed.txt'), 'utf8'), 'a\r\nb2\nc\r\nnew\r\nd\n')
})
