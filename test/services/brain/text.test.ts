import t from 'tap'
import { normalise, sameButForCase } from '../../../services/brain/fact-text.ts'

t.test('texts are trimmed, composed and well formed', async (t) => {
  t.equal(normalise('fact', '\u00a0 \t\ufeffcafe\u0301 \r\n', 10), 'café')
  t.equal(normalise('fact', 'half \ud83d a pair', 20), 'half \ufffd a pair')
})

t.test('a length is counted in code points, after trimming and composing', async (t) => {
  t.equal(normalise('fact', ` ${'😀'.repeat(10)} `, 10), '😀'.repeat(10))
  t.equal(normalise('fact', 'e\u0301'.repeat(10), 10), 'é'.repeat(10))
  t.throws(() => normalise('fact', 'x'.repeat(11), 10), {
    code: 'ERR_INVALID_REQUEST',
    message: 'body.fact must have 1 to 10 characters after trimming, not 11.'
  })
  for (const nothing of ['', '  ', '\n\u2003']) {
    t.throws(() => normalise('key', nothing, 10), { code: 'ERR_INVALID_REQUEST', message: /^body\.key .* not 0\.$/ })
  }
})

const SAME = [['Likes TEA', 'likes tea'], ['ÉTÉ', 'été'], ['МОСКВА', 'Москва'], ['ΟΔΟΣ', 'οδος'], ['ΟΔΟΣ', 'οδοσ'], ['GROẞ', 'groß'], [
  '𐐀',
  '𐐨'
], ['a+b (C)\n$', 'A+B (c)\n$']]
const APART = [
  ['Maße', 'Masse'],
  ['sıkıldım', 'sikildim'],
  ['resume', 'résumé'],
  ['x²', 'x2'],
  ['a.c', 'abc'],
  ['tea', 'teas'],
  ['tea', 'I like tea'],
  ['tea', 'tea\n'],
  ['a|b', 'a'],
  ['\\w', 'w']
]

t.test('case makes no difference, in any script', async (t) => {
  for (const [one, other] of SAME) t.ok(sameButForCase(one)(other) && sameButForCase(other)(one), `${one} = ${other}`)
})

t.test('everything else does, and nothing in a text is a pattern', async (t) => {
  for (const [one, other] of APART) t.notOk(sameButForCase(one)(other) || sameButForCase(other)(one), `${one} ≠ ${other}`)
})

t.test('any text equals itself, the longest too', async (t) => {
  const ascii = String.fromCodePoint(...Array.from({ length: 127 }, (_, i) => i + 1))
  for (const text of [ascii, '-', '{1', '(?', 'ж'.repeat(2_000), '😀'.repeat(2_000)]) t.ok(sameButForCase(text)(text), text.slice(0, 40))
})
