import fc from 'fast-check'
import t from 'tap'
import { splitBlocks, type Split } from '../../console/parts/markdown/split-blocks.ts'

const split = (text: string) => splitBlocks(text).blocks

t.test('a text is split at blank lines, and code is told from Markdown', async (t) => {
  t.same(split('# Title\n\nSome *words*\nof one paragraph.\n\n- a\n- b\n\n  still b\n\n```js\nlet a\n\nlet b\n```\nEnd'), [
    { kind: 'markdown', text: '# Title\n' },
    { kind: 'markdown', text: 'Some *words*\nof one paragraph.\n' },
    { kind: 'markdown', text: '- a\n- b\n\n  still b\n' },
    { kind: 'code', language: 'js', text: 'let a\n\nlet b' },
    { kind: 'markdown', text: 'End' }
  ])
  t.same(split('  ```\n  indented\n    more\n  ```'), [{ kind: 'code', text: 'indented\n  more' }], 'code loses the indent of its fence')
  t.same(split('~~~~\n```\n~~~\n~~~~'), [{ kind: 'code', text: '```\n~~~' }], 'only the same fence closes code')
})

t.test('no block is long, and the pieces of a table keep its head', async (t) => {
  const row = '| a cell | another |'
  const table = split(`| a | b |\n|---|---|\n${`${row}\n`.repeat(200)}`)
  t.ok(table.length > 2)
  t.ok(table.every(({ text }) => text.startsWith('| a | b |\n|---|---|\n| a cell')))
  const code = split('```\n' + 'line\n'.repeat(1_000) + '```')
  t.equal(code.map(({ text }) => text).join('\n'), 'line\n'.repeat(1_000).trimEnd())
  for (const text of ['word '.repeat(50_000), 'x'.repeat(200_000), '```\n' + 'x'.repeat(200_000)]) {
    t.ok(split(text).every((block) => block.text.length <= 8_000))
  }
})

t.test('a text that grows has the blocks that it has when it is split at once', async (t) => {
  const lines = ['', 'words', '- item', '  more of it', '```', '```js', '~~~', '| a | b |', '|---|---|', '# Title', '    code', '`']
  const text = fc.array(fc.constantFrom(...lines), { maxLength: 200 }).map((all) => all.join('\n'))
  fc.assert(fc.property(text, fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }), (text, steps) => {
    let grown: Split | undefined
    for (let at = 0, n = 0; at < text.length; n++) {
      at += steps[n % steps.length]
      grown = splitBlocks(text.slice(0, at), grown)
    }
    return JSON.stringify(grown?.blocks ?? []) === JSON.stringify(split(text))
  }))
  t.same(splitBlocks('other', splitBlocks('first\n\nsecond')).blocks, [{ kind: 'markdown', text: 'other' }])
})
