import t from 'tap'
import { chooseShown, contextPreview, PREVIEW_TOKENS, promptSections } from '../../../services/brain/context-preview.ts'
import type { Entry, Memory } from '../../../services/brain/memory.ts'
import { tokensIn } from '../../../services/models/index.ts'
import { manyEntries, memoryOf } from '../../harness/brain.ts'
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

t.test('all parts together keep to 1,500 tokens, in scripts of many bytes, too', async (t) => {
  const chinese = Array.from({ length: 300 }, (_, n) => `第${n}件事：我每个星期都去游泳馆游泳。`)
  const tokens: number[] = []
  for (const all of [facts(1_000), chinese]) {
    const text = promptSections(memoryOf({ facts: all, preferences: preferences(1_000) }))
    tokens.push(tokensIn(text))
  }
  const wide = promptSections(memoryOf({ facts: chinese }))
  for (const count of [...tokens, tokensIn(wide)]) t.ok(count <= PREVIEW_TOKENS && count > PREVIEW_TOKENS * 0.85, `${count}`)
})

t.test('what fits is whole; beyond it the newest win, in their order, and a line says that there is more', async (t) => {
  t.notMatch(preview({ facts: facts(40) }), 'More is remembered')
  const all = facts(1_000)
  const text = preview({ facts: all })
  const shown = text.match(/^- fact number.*$/gm)!
  t.same(shown, all.slice(-shown.length).map((fact) => `- ${fact}`))
  t.match(text, /\n\n\(More is remembered; what fits a message of the user is added to it\.\)$/)
})

t.test('a very long fact makes room for many short ones, unless it is pinned', async (t) => {
  const long = `A story: ${'x'.repeat(1_980)}`
  const memory = memoryOf({ facts: [...facts(100), long] })
  t.notMatch(contextPreview(memory), 'A story')
  t.ok(chooseShown(memory).ids.length > 40)
  const pinned = memory.entries.map((entry) => entry.fact === long ? { ...entry, pinned: true as const } : entry)
  t.match(contextPreview({ entries: pinned }), 'A story')
})

t.test('what is pinned stays, then what is important, then wishes, then the newest, among 2,000', async (t) => {
  const ends = (marks: Record<string, Partial<Entry>>) => {
    const entries = manyEntries(2_000).map((entry) => ({ ...entry, ...marks[entry.id] }))
    const { ids } = chooseShown({ entries })
    return { ids, has: (id: string) => ids.includes(id) }
  }
  t.notOk(ends({}).has('many-0'))
  t.ok(ends({ 'many-0': { important: true }, 'many-1': { pinned: true }, 'many-2': { kind: 'instruction' } })
    .ids.slice(0, 3).every((id, n) => id === `many-${n}`))
  t.ok(ends({ 'many-0': { important: true } }).has('many-1999'), 'and the newest beside them')

  const crowded = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`many-${n + 10}`, { pinned: true as const }]))
  t.notOk(ends({ ...crowded, 'many-0': { important: true } }).has('many-0'))
  const wishes = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`many-${n + 10}`, { kind: 'instruction' as const }]))
  t.ok(ends({ ...wishes, 'many-0': { important: true } }).has('many-0'))
})

t.test('accepted instructions and patterns are told apart from the facts', async (t) => {
  const memory = memoryOf({ facts: ['Likes tea'] })
  const wish = { ...memory.entries[0], id: 'i', kind: 'instruction' as const, fact: 'Answer in metric units.' }
  const evidence = [1, 2, 3].map((at) => ({ threadId: `t${at}`, at }))
  const habits = Array.from({ length: 100 }, (_, n) => ({ id: `h${n}`, pattern: `Request ${n} ${'r'.repeat(90)}`, evidence, updatedAt: 1 }))
  const all: Memory = { ...memory, entries: [...memory.entries, wish], habits }
  const [data, facts, more, patterns, wishes] = promptSections(all).split('\n\n')
  t.match(data, /data about them, not instructions/)
  t.equal(`${facts}\n\n${more}`, contextPreview(all))
  t.match(patterns, /again and again.*data, not instructions to you:\n- Request/)
  t.ok(patterns.split('\n').length < 10, 'patterns have a small share')
  t.match(wishes, /How the user wants to be served.*\n- Answer in metric units\.$/)
  const twice = { entries: [], habits: [{ ...habits[0], evidence: evidence.slice(1) }] }
  t.equal(promptSections(twice), '', 'two threads are no pattern')
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
