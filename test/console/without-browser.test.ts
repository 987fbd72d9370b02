import type { UIMessageChunk } from 'ai'
import fc from 'fast-check'
import t from 'tap'
import { frameStream } from '../../console/pages/chat/stream/frame-stream.ts'
import { chosenIn } from '../../console/pages/chat/thread/chosen.ts'
import { type LoadedMessages, withPage } from '../../console/pages/chat/thread/loaded-messages.ts'
import { parseDiff } from '../../console/parts/diff/parse-diff.ts'
import { headingLevels } from '../../console/parts/markdown/heading-levels.ts'
import { createReferences } from '../../console/parts/markdown/references.ts'
import { type Split, splitBlocks } from '../../console/parts/markdown/split-blocks.ts'
import { diffHunks } from '../../services/tools/files/line-diff.ts'

const delta = (id: string, delta: string): UIMessageChunk => ({ type: 'text-delta', id, delta })

/** Reads a stream frame by frame; returns what each frame brought. */
async function frames (chunks: AsyncGenerator<UIMessageChunk>) {
  const seen: UIMessageChunk[][] = []
  const stream = frameStream(chunks, async () => {
    await new Promise((resolve) => setImmediate(resolve))
    seen.push([])
  })
  for await (const chunk of stream) {
    if (seen.length === 0) seen.push([])
    seen.at(-1)!.push(chunk)
  }
  return seen
}

t.test('a sentence that only looks like that of a chosen skill or prompt is text', async (t) => {
  const read = (text: string) => chosenIn({ type: 'text', text })
  t.same(read('[The user has chosen the skill "notes" for this]'), { kind: 'skill', name: 'notes' })
  t.equal(read('[The user has chosen the skill "\\q" for this]'), undefined)
  t.equal(read('[The user has chosen the prompt "a" of the tool server "b" with {c}. Its words follow\nd'), undefined)
})

t.test('the pieces of one text that come in one frame are joined, and nothing else changes', async (t) => {
  const [first] = await frames((async function * () {
    yield { type: 'text-start', id: 'a' } as const
    yield * [delta('a', 'one '), delta('a', 'two'), delta('b', 'three')]
    yield { type: 'text-end', id: 'a' } as const
  })())
  t.same(first, [{ type: 'text-start', id: 'a' }, delta('a', 'one two'), delta('b', 'three'), { type: 'text-end', id: 'a' }])
})

t.test('a model that never waits fills many frames, of bounded size', async (t) => {
  let made = 0
  const seen = await frames((async function * () {
    for (; made < 2_000; made++) yield delta('a', '.')
  })())
  const texts = seen.flat().map((chunk) => 'delta' in chunk ? String(chunk.delta) : '')
  t.equal(texts.join('').length, 2_000)
  t.ok(texts.every((text) => text.length <= 500))
})

t.test('a failure comes after what was read before it, and a reader that leaves ends the source', async (t) => {
  const failing = frameStream((async function * () {
    yield delta('a', 'before')
    throw new Error('cut')
  })(), async () => {})
  const reader = failing.getReader()
  t.same((await reader.read()).value, delta('a', 'before'))
  await t.rejects(reader.read(), { message: 'cut' })

  let isEnded = false
  const endless = frameStream((async function * () {
    try {
      while (true) yield delta('a', '.')
    } finally {
      isEnded = true
    }
  })(), async () => {})
  const first = endless.getReader()
  await first.read()
  await first.cancel()
  t.ok(isEnded)
})

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

t.test('a diagram in words has colours for its keywords, arrows, labels and comments', async (t) => {
  // Its types are those of a browser.
  const { tokensOf } = await import(String('../../console/parts/markdown/highlight.ts'))
  const diagram = 'flowchart LR\n  A[Draft] --> B{"Is it good?"} %% the first\n  A->>B: hello'
  const tokens: Array<{ text: string, kind?: string }> = tokensOf(diagram, 'mermaid')
  t.same(tokens.filter(({ kind }) => kind !== undefined).map(({ kind, text }) => `${kind} ${text}`), [
    'keyword flowchart', 'keyword LR', 'string Draft', 'symbol -->', 'string "Is it good?"', 'comment %% the first', 'symbol ->>'
  ])
  t.equal(tokensOf('a', 'no language'), undefined)
})

const resolve = (text: string) => createReferences()(splitBlocks(text).blocks)
const levelsOf = (text: string) => headingLevels(resolve(text)).map((levels) => levels.slice(0, 4))

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

t.test('a page that is read again replaces what it covers, and older messages stay', async (t) => {
  const page = (from: number, ids: string, text = ''): LoadedMessages =>
    ({ from, messages: [...ids].map((id) => ({ id, role: 'user', parts: [{ type: 'text', text }] })) })
  const join = (a: LoadedMessages, b: LoadedMessages) => {
    const { from, messages } = withPage(a, b)
    return `${from} ${messages.map(({ id, parts: [part] }) => part.type === 'text' ? id + part.text : '').join('')}`
  }
  t.equal(join(page(2, 'cdef'), page(4, 'efg', '!')), '2 cde!f!g!')
  t.equal(join(page(2, 'cdef'), page(8, 'ij')), '8 ij', 'a gap would hide messages')
  t.equal(join(page(2, 'cdef'), page(0, 'ab')), '0 ab', 'the thread was cut')
  t.equal(join(page(0, ''), page(0, 'ab')), '0 ab')
  t.equal(join(page(4, 'cd'), page(6, 'd')), '4 cd', 'an answer may have several positions')
})

t.test('levels of headings follow each other, whatever a model begins with and leaves out', async (t) => {
  t.same(levelsOf('# a\n\n## b\n\ntext\n\n# c'), ['3456', '3456', '3456', '3456'])
  t.same(levelsOf('## a\n\n#### b\n\n### c\n\n## d'), ['3356', '3454', '3446', '3356'])
  t.same(levelsOf('### a\n# b\n\n```\n# no heading\n```\n\n---\n\n## c'), ['3436', '3456', '3456', '3456'])
})

/** The lines of a diff, with [brackets] around marked words. */
const marked = (diff: string) => parseDiff(diff).lines.map(({ kind, text, pieces }) =>
  `${kind} ${pieces?.map(({ text, isMarked }) => isMarked ? `[${text}]` : text).join('') ?? text}`)
const hunk = (...rows: string[]) => ['--- a', '+++ b', '@@ -1,9 +1,9 @@', ...rows].join('\n')

t.test('of a changed line the words are marked that the line in its place does not have', async (t) => {
  t.same(marked(hunk(' same', '-const tea = 1', '+const coffee = 12')), [
    'same same',
    'remove const [tea] = [1]',
    'add const [coffee] = [12]'
  ])
  t.same(marked(hunk('-die alte Tür', '+die neue Tür', '-ça va', '+ça va bien')), [
    'remove die [alte] Tür',
    'add die [neue] Tür',
    'remove ça va',
    'add ça va[ bien]'
  ])
  t.same(marked(hunk('-one two', '+three four five')), ['remove one two', 'add three four five'], 'nothing is marked where all would be')
  t.same(marked(hunk('-a b', '-c d', '+a x')), ['remove a b', 'remove c d', 'add a x'], 'no line stands in the place of another')
  const long = 'x y '.repeat(300)
  t.same(marked(hunk(`-${long}1`, `+${long}2`)), [`remove ${long}1`, `add ${long}2`], 'a very long line is not compared')
  const wide = 'word, '.repeat(110)
  t.match(marked(hunk(`-${wide}old ${wide.slice(0, 90)}`, `+${wide}new ${wide.slice(0, 90)}`))[0], /, \[old\] word/)
  t.same(marked(hunk('-a b', '\\ No newline at end of file', '+a c')).map((line) => line.split(' ')[0]), ['remove', 'noLineEnd', 'add'])
})

t.test('5,000 lines with 200 changed show each change, with its changed word alone marked', async (t) => {
  const old = Array.from({ length: 5_000 }, (_, n) => `line ${n} of the list is here`)
  const now = old.map((line, n) => n % 25 === 3 ? line.replace('here', `there${n}`) : line)
  const hunks = diffHunks(`${old.join('\n')}\n`, `${now.join('\n')}\n`, 3)
  const diff = hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) =>
    [`@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`, ...lines]).join('\n')
  const { lines, added, removed } = parseDiff(diff)
  t.same([added, removed], [200, 200])
  const marks = lines.map(({ kind, pieces }) => `${kind} ${pieces?.filter(({ isMarked }) => isMarked).map(({ text }) => text).join('|')}`)
  t.equal(marks.filter((each) => each === 'remove here').length, 200)
  t.equal(marks.filter((each) => /^add there\d+$/.test(each)).length, 200)
})
