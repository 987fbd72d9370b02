import t from 'tap'
import { contextPreview, PREVIEW_LIMIT, promptSections, SECTION_LIMIT } from '../../../services/brain/context-preview.ts'
import { emptyMemory, type Memory } from '../../../services/brain/memory.ts'
import { memoryOf } from '../../harness/brain.ts'
import { foldText, normalise } from '../../../services/brain/fact-text.ts'

const preview = (brain: Parameters<typeof memoryOf>[0]) => contextPreview(memoryOf(brain))
const facts = (count: number, pad = 90) => Array.from({ length: count }, (_, i) => `fact number ${i} `.padEnd(pad, 'x'))
const preferences = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`key ${i}`, 'y'.repeat(90)]))

t.test('facts, a blank line, preferences', async (t) => {
  t.equal(
    preview({ facts: ['Likes tea', 'Lives in Bremen'], preferences: { theme: 'dark', editor: 'vim' } }),
    '## Known facts\n- Likes tea\n- Lives in Bremen\n\n## Preferences\n- theme: dark\n- editor: vim'
  )
})

t.test('empty sections are left out', async (t) => {
  t.equal(preview({ facts: ['Likes tea'] }), '## Known facts\n- Likes tea')
  t.equal(preview({ preferences: { theme: 'dark' } }), '## Preferences\n- theme: dark')
  t.equal(preview({}), '')
})

t.test('line breaks of every kind in facts, keys and values become spaces', async (t) => {
  const broken = 'a\nb\r\nc\rd\ve\ff\u0085g\u2028h\u2029i\n\n## Preferences'
  const flat = 'a b c d e f g h i  ## Preferences'
  t.equal(
    preview({ facts: [broken], preferences: { [broken]: broken } }),
    `## Known facts\n- ${flat}\n\n## Preferences\n- ${flat}: ${flat}`
  )
})

t.test('what just fits 4,000 tokens is whole; one character more is not', async (t) => {
  const whole = facts(100)
  const room = PREVIEW_LIMIT - preview({ facts: whole }).length - '\n- '.length
  const fits = preview({ facts: [...whole, 'z'.repeat(room)] })
  t.equal(fits.length, 4_000 * 4)
  t.notMatch(fits, 'Left out')
  const over = preview({ facts: [...whole, 'z'.repeat(room + 1)] })
  t.ok(over.length <= PREVIEW_LIMIT)
  t.match(over, /\n\n\(Left out for want of room: \d+ older facts?\.\)$/)
})

t.test('beyond it the newest facts win, in their order, and the last line counts the others', async (t) => {
  const all = facts(1_000)
  const text = preview({ facts: all, preferences: { theme: 'dark' } })
  const shown = text.match(/^- fact number.*$/gm)!
  t.ok(text.length <= PREVIEW_LIMIT && text.length > PREVIEW_LIMIT * 0.97, 'the room is used')
  t.same(shown, all.slice(-shown.length).map((fact) => `- ${fact}`))
  t.equal(text.split('\n').at(-1), `(Left out for want of room: ${1_000 - shown.length} older facts.)`)
  t.match(text, '\n\n## Preferences\n- theme: dark\n\n(')
})

t.test('neither many facts nor many preferences crowd the other out', async (t) => {
  const lines = (text: string, start: string) => text.split('\n').filter((line) => line.startsWith(start)).length
  const both = preview({ facts: facts(1_000), preferences: preferences(1_000) })
  t.ok(both.length <= PREVIEW_LIMIT)
  t.ok(lines(both, '- fact') > 70 && lines(both, '- key') > 70)
  t.match(
    both,
    `(Left out for want of room: ${1_000 - lines(both, '- fact')} older facts, ${1_000 - lines(both, '- key')} older preferences.)`
  )

  const few = preview({ facts: ['Likes tea'], preferences: preferences(1_000) })
  t.match(few, '- Likes tea\n')
  t.ok(few.length <= PREVIEW_LIMIT && few.length > PREVIEW_LIMIT * 0.97, 'what facts do not need is given to preferences')
  t.match(few, `- key 999: ${'y'.repeat(90)}\n\n(Left out for want of room: ${1_000 - lines(few, '- key')} older preferences.)`)
})

t.test('the largest facts there can be leave the newest ones', async (t) => {
  const astral = Array.from({ length: 10 }, (_, i) => `${i}${'😀'.repeat(1_999)}`)
  const text = preview({ facts: astral })
  t.ok(text.length <= PREVIEW_LIMIT)
  t.match(text, `- ${astral[9]}\n\n(Left out for want of room: 7 older facts.)`)
})

t.test('what is pinned stays, however old, and then the newest', async (t) => {
  const memory = memoryOf({ facts: facts(1_000) })
  const entries = memory.entries.map((entry, n) => n < 3 ? { ...entry, pinned: true as const } : entry)
  const text = contextPreview({ entries })
  for (const n of [0, 1, 2, 999]) t.match(text, new RegExp(`- fact number ${n} x`))
  t.notMatch(text, /- fact number 3 x/)
  t.ok(text.length <= PREVIEW_LIMIT)
})

t.test('an important entry stays among 2,000 however old, after what is pinned and before the newest', async (t) => {
  const { entries } = memoryOf({ facts: ['I eat no nuts.', ...facts(999)], preferences: preferences(1_000) })
  const marked = (mark: object) => entries.map((entry, n) => n === 0 ? { ...entry, ...mark } : entry)
  t.notMatch(contextPreview({ entries }), 'nuts')
  const text = contextPreview({ entries: marked({ important: true }) })
  t.match(text, '- I eat no nuts.\n')
  t.match(text, '- fact number 998 ')
  t.ok(text.length <= PREVIEW_LIMIT)

  const crowded = marked({ important: true }).map((entry, n) => n > 0 && n < 1_000 ? { ...entry, pinned: true as const } : entry)
  t.notMatch(contextPreview({ entries: crowded }), 'nuts')
})

t.test('accepted instructions and patterns are told apart from the facts, each within 1,000 tokens', async (t) => {
  const memory = memoryOf({ facts: ['Likes tea'] })
  const wish = (n: number) => ({ ...memory.entries[0], id: `i${n}`, kind: 'instruction' as const, fact: `Wish ${n} ${'w'.repeat(90)}` })
  const evidence = [1, 2, 3].map((at) => ({ threadId: `t${at}`, at }))
  const habits = Array.from({ length: 100 }, (_, n) => ({ id: `h${n}`, pattern: `Request ${n} ${'r'.repeat(90)}`, evidence, updatedAt: 1 }))
  const all: Memory = { ...memory, entries: [...memory.entries, ...Array.from({ length: 100 }, (_, n) => wish(n))], habits }
  const [data, preview, patterns, wishes] = promptSections(all).split('\n\n')
  t.match(data, /data about them, not instructions/)
  t.equal(preview, contextPreview(all))
  t.match(patterns, /again and again.*data, not instructions to you:\n- Request/)
  t.match(wishes, /How the user wants to be served.*\n- Wish/)
  for (const section of [patterns, wishes]) t.ok(section.length <= SECTION_LIMIT + 200 && section.length > SECTION_LIMIT * 0.9)
  t.match(wishes, 'Wish 99 ')
  t.notMatch(wishes, 'Wish 0 ')
  t.equal(promptSections({ ...emptyMemory(), habits: [{ ...habits[0], evidence: evidence.slice(1) }] }), '', 'two threads are no pattern')
})

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

const SAME = [
  ['Likes TEA', 'likes tea'],
  ['ÉTÉ', 'été'],
  ['МОСКВА', 'Москва'],
  ['ΟΔΟΣ', 'οδος'],
  ['ΟΔΟΣ', 'οδοσ'],
  ['GROẞ', 'groß'],
  ['𐐀', '𐐨'],
  ['a+b (C)\n$', 'A+B (c)\n$'],
  ['tea', ' tea\n'],
  ['I like  tea', 'I like\ttea'],
  ['I like tea', 'I like tea!'],
  ['お茶が好きです', 'お茶が好きです。'],
  ['मुझे चाय पसंद है', 'मुझे चाय पसंद है।'],
  ['I’m Ada', "I'm Ada."]
]
const APART = [
  ['Maße', 'Masse'],
  ['sıkıldım', 'sikildim'],
  ['resume', 'résumé'],
  ['x²', 'x2'],
  ['a.c', 'abc'],
  ['tea', 'teas'],
  ['tea', 'I like tea'],
  ['I live here', 'I live here?'],
  ['a|b', 'a'],
  ['\\w', 'w'],
  ['...', '!']
]

t.test('case, blanks and end punctuation make no difference, in any script', async (t) => {
  for (const [one, other] of SAME) t.equal(foldText(one), foldText(other), `${one} = ${other}`)
})

t.test('everything else does', async (t) => {
  for (const [one, other] of APART) t.not(foldText(one), foldText(other), `${one} ≠ ${other}`)
})
