import t from 'tap'
import { createReferences } from '../../console/parts/markdown/references.ts'
import { splitBlocks, type Split } from '../../console/parts/markdown/split-blocks.ts'

const resolve = (text: string) => createReferences()(splitBlocks(text).blocks)

t.test('blocks know the links and the footnotes that other blocks define', async (t) => {
  t.same(resolve('See [the page][home] and [HOME].\n\nNothing.\n\n[home]: https://example.com/ "A page"'), [
    { kind: 'markdown', text: 'See [the page][home] and [HOME].\n\n\n[home]: https://example.com/ "A page"' },
    { kind: 'markdown', text: 'Nothing.\n' },
    { kind: 'markdown', text: '[home]: https://example.com/ "A page"' }
  ])

  const [tea, milk, code, unsaid] = [
    { label: 'tea', number: 1, text: 'Black tea,\nfrom [home].' },
    { label: 'milk', number: 2, text: 'Cold.' },
    { label: 'b', number: 3, text: 'A letter.' },
    { label: 'unsaid', number: 4, text: 'Nobody asked.' }
  ]
  t.same(
    resolve('Tea[^tea] and milk[^milk].\n\nMore[^Tea], `[^b]`.\n\n```\n[^x]: code\n```\n' +
      '[^milk]: Cold.\n[^tea]: Black tea,\n    from [home].\n[^unsaid]: Nobody asked.\n[^b]: A letter.\n'),
    [
      { kind: 'markdown', text: 'Tea[^tea] and milk[^milk].\n\n\n[^tea]: …\n\n[^milk]: …', notes: [tea, milk] },
      { kind: 'markdown', text: 'More[^Tea], `[^b]`.\n\n\n[^tea]: …\n\n[^b]: …', notes: [tea, code] },
      { kind: 'code', text: '[^x]: code' },
      { kind: 'notes', text: '', notes: [tea, milk, code, unsaid] }
    ]
  )
  t.same(resolve('A paragraph\n[with]: what is no definition\n\nand [with].').map(({ text }) => text), [
    'A paragraph\n[with]: what is no definition\n',
    'and [with].'
  ])
})

t.test('while a text grows, the blocks stay until what they refer to is known', async (t) => {
  const text = `Tea[^1].\n\nWords.\n\n${'More words. '.repeat(20)}\n\n[^1]: Black`
  const references = createReferences()
  let split: Split | undefined
  const seen = new Set<unknown>()
  for (let at = 1; at <= text.length; at++) {
    split = splitBlocks(text.slice(0, at), split)
    const blocks = references(split.blocks)
    if (at > 20) seen.add(blocks[0]).add(blocks[1])
  }
  const last = (number: number) => references(split!.blocks)[number]
  t.match(last(0), { notes: [{ number: 1, text: 'Black' }] })
  t.ok(seen.size < 15, `${seen.size} objects for two blocks`)
  t.equal(last(1), last(1))
})
