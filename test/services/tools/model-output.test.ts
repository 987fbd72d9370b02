import fc from 'fast-check'
import t from 'tap'
import { forModel } from '../../../services/tools/model-output.ts'

const LIMIT = 64 * 1024
const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value))

t.test('an output that fits is shown as it is', async (t) => {
  const output = { text: 'a'.repeat(60_000), list: [1, { a: null }] }
  t.equal(forModel(output), output)
})

t.test('a long text keeps its head and its tail and uses the room there is', async (t) => {
  const output = { path: 'x', content: `HEAD${'m'.repeat(500_000)}TAIL`, short: 'whole' }
  const shown = forModel(output) as typeof output
  t.ok(shown.content.startsWith('HEADm') && shown.content.endsWith('mTAIL'))
  t.match(shown.content, /\n\[… \d+ characters left out …\]\n/)
  t.match(shown, { path: 'x', short: 'whole' })
  t.ok(bytes(shown) <= LIMIT && bytes(shown) > LIMIT - 200)
  t.equal(output.content.length, 500_008, 'the output itself is left alone')
  const kept = shown.content.replace(/\n\[… \d+ characters left out …\]\n/, '')
  t.equal(Number(shown.content.match(/… (\d+) /)![1]) + kept.length, output.content.length)
})

t.test('a long list is cut at its end and says so', async (t) => {
  const shown = forModel({ entries: Array.from({ length: 20_000 }, (_, index) => ({ name: `file-${index}`, size: index })) })
  const entries = shown.entries as unknown[]
  t.match(entries[0], { name: 'file-0' })
  t.match(entries.at(-1), /\[… \d+ more left out …\]/)
  t.ok(bytes(shown) <= LIMIT && bytes(shown) > LIMIT / 2)
})

t.test('whatever the output, what is shown fits, is JSON and breaks no character', async (t) => {
  const text = fc.tuple(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }), fc.integer({ min: 1, max: 20_000 })).map((
    [unit, count]
  ) => unit.repeat(count))
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 4 },
      text,
      fc.constant('\u0000"\\'.repeat(9000)),
      fc.integer(),
      fc.array(tie('any')),
      fc.dictionary(fc.string(), tie('any'))
    )
  })).any
  fc.assert(
    fc.property(fc.dictionary(fc.string({ minLength: 1 }), value), (output) => {
      const shown = forModel(output)
      const json = JSON.stringify(shown)
      return Buffer.byteLength(json) <= LIMIT && !/\\ud[89a-f]/.test(json) && typeof JSON.parse(json) === 'object'
    }),
    { numRuns: 40, seed: 7, endOnFailure: true }
  )
  t.pass()
})

t.test('wide and deep outputs fit as well', async (t) => {
  const wide = Object.fromEntries(Array.from({ length: 30_000 }, (_, index) => [`key-${index}`, index]))
  let deep: Record<string, unknown> = { end: 'x'.repeat(100_000) }
  for (let level = 0; level < 3000; level++) deep = { 'deeper and deeper still': deep, x: level }
  for (const output of [wide, deep, { ['k'.repeat(200_000)]: 1 }, { a: [[[wide]], wide] }]) t.ok(bytes(forModel(output)) <= LIMIT)
})
