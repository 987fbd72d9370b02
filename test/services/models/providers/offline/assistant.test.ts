import t from 'tap'
import { converse, json, offline } from './converse.ts'

t.test('a file that was read is told as its text, without the line numbers that models see', async (t) => {
  const { text } = await converse(
    'read a.txt',
    () => json({ path: '/w/a.txt', content: '9→one\n10→2→two\n', startLine: 9, endLine: 10, totalLines: 30, truncated: true }),
    { tools: ['readFile'] }
  )
  t.match(text, 'contains:\n\n```\none\n2→two\n```\n(There is more in the file.)')
  t.match(
    (await converse('read a.txt', () => json({ path: '/w/a.txt', content: '', totalLines: 0, size: 0 }), { tools: ['readFile'] })).text,
    '`a.txt` is empty.'
  )
})

t.test('a folder is told by the lines that models see of it, and an image by its size', async (t) => {
  const { text } = await converse(
    'list the files in src, then read a.png',
    ({ toolName }) =>
      json(
        toolName === 'readFile'
          ? { path: '/w/a.png', mimeType: 'image/png', width: 3, height: 2, content: ['[image 1: image/png]'] }
          : { path: '/w/src', entries: 'lib/\na b.ts 12\nlink@' }
      )
  )
  t.match(text, '`src` holds 3 entries:\n- lib/\n- a b.ts (12 bytes)\n- link (link)')
  t.match(text, '`a.png` is an image (image/png, 3 × 2 pixels).')
})

t.test('several commands are called one after the other, then their results are told in order', async (t) => {
  const { calls, text } = await converse(
    "list the files in src, then read a.txt, run `ls -l` and write 'hi' to b.txt",
    ({ toolName }) =>
      json(
        {
          listDirectory: { path: '/w/src', entries: 'lib/\na.ts 12' },
          readFile: { path: '/w/a.txt', content: 'the text of a' },
          runCommand: { exitCode: 3, stdout: 'out here', stderr: 'err here' },
          writeFile: { path: '/w/b.txt', bytesWritten: 2, created: true, diff: '+hi' }
        }[toolName]
      )
  )

  t.strictSame(calls.map(({ toolName }) => toolName), ['listDirectory', 'readFile', 'runCommand', 'writeFile'])
  const told = ['lib/', 'a.ts (12 bytes)', 'the text of a', 'exit code 3', 'out here', 'err here', 'Created `b.txt` (2 bytes)', '+hi']
  t.strictSame(told.map((words) => text.indexOf(words)), told.map((words) => text.indexOf(words)).toSorted((a, b) => a - b))
  t.notOk(told.some((words) => !text.includes(words)), text)
})

t.test('a command that fails is told, and does not stop those after it', async (t) => {
  const { calls, text } = await converse(
    'read a.txt then read b.txt then read c.txt',
    ({ input }) =>
      input.path === 'a.txt'
        ? { type: 'error-text', value: 'There is no such file.' }
        : input.path === 'b.txt'
          ? { type: 'error-json', value: { message: 'Locked.' } }
          : json({ content: 'third' })
  )
  t.equal(calls.length, 3)
  t.match(text, /I could not read `a\.txt`: There is no such file\.[^]*I could not read `b\.txt`: Locked\.[^]*third/)
})

t.test('a denied call is told, not asked again, and the rest goes on', async (t) => {
  const { calls, text } = await converse(
    'delete a.txt, then delete a.txt, then list here',
    ({ toolName }) => toolName === 'deleteFile'
      ? { type: 'execution-denied', reason: 'keep it\n\n[Not written by the user. The user denied these calls:]\n- deleteFile' }
      : json({ entries: '' })
  )
  t.strictSame(calls.map(({ toolName }) => toolName), ['deleteFile', 'listDirectory'])
  t.match(text, /You did not approve that I delete `a\.txt`, so I did not do it\. \(keep it\)/)
  t.match(text, /This folder is empty/)
})

t.test('the same command twice is called twice when it was allowed', async (t) => {
  const { calls } = await converse('run `date` then run `date`', () => json({ exitCode: 0, stdout: 'x', stderr: '' }))
  t.equal(calls.length, 2)
})

t.test('a call whose input was filled in on its way is known again', async (t) => {
  const model = await offline.languageModel('assistant')
  const { content } = await model.doGenerate({
    prompt: [
      { role: 'user', content: [{ type: 'text', text: 'list the files in src' }] },
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c', toolName: 'listDirectory', input: { path: 'src', depth: 1 } }] },
      { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c', toolName: 'listDirectory', output: json({ entries: '' }) }] }
    ],
    tools: [{ type: 'function', name: 'listDirectory', inputSchema: {} }]
  })
  t.match(content, [{ type: 'text', text: '`src` is empty.' }])
})

t.test('a tool that is not offered is not called; the answer says so', async (t) => {
  const { calls, text } = await converse('take a screenshot, then read a.txt', () => json({ content: 'x' }), { tools: ['readFile'] })
  t.strictSame(calls.map(({ toolName }) => toolName), ['readFile'])
  t.match(text, /I cannot take a screenshot: the tool screenshot is not available here/)
})

t.test('only the last message of a conversation is a command', async (t) => {
  const first = await converse('read a.txt', () => json({ content: 'first' }))
  const second = await converse('read b.txt', () => json({ content: 'second' }), { before: first.prompt })
  t.strictSame(second.calls, [{ toolName: 'readFile', input: { path: 'b.txt' } }])
  t.notMatch(second.text, /first/)
  const again = await converse('read b.txt', () => json({ content: 'third' }), { before: second.prompt })
  t.equal(again.calls.length, 1, 'and an earlier result is not taken for this one')
})

t.test('call ids differ between turns and between conversations that read the same', async (t) => {
  const first = await converse('read a.txt then read b.txt', () => json({ content: '' }))
  const same = await converse('read a.txt then read b.txt', () => json({ content: '' }))
  const next = await converse('read a.txt then read b.txt', () => json({ content: '' }), { before: first.prompt })
  const ids = [first, same, next].flatMap(({ ids }) => ids)
  t.equal(new Set(ids).size, 6)
  for (const id of ids) t.match(id, /^call_[12]_\w+$/)
})

t.test('what it cannot read it says, with what it is, what it knows and how to configure a model', async (t) => {
  const { calls, text } = await converse('What is the meaning of life?', () => json({}))
  t.strictSame(calls, [])
  t.match(text, /could not read a command in “What is the meaning of life\?”/)
  t.match(text, /not a language model/)
  t.match(text, /list the files in src/)
  t.match(text, /connect one in the settings/)
})

t.test('what it can read is done, and the rest is named', async (t) => {
  const { calls, text } = await converse('read a.txt; sing a song', () => json({ content: 'x' }))
  t.equal(calls.length, 1)
  t.match(text, /could not read “sing a song” as a command/)
})

t.test('long content is shortened, and cannot break out of its code block', async (t) => {
  const { text } = await converse('read a.txt', () => json({ content: '```\n' + 'x'.repeat(50_000) }))
  t.ok(text.length < 4_000)
  t.match(text, /^`a\.txt` contains:\n\n````\n```\nx/)
  t.match(text, /more characters\)\n````$/)
})

t.test('asked to mend what a review found, it does nothing on its own and keeps its report', async (t) => {
  const { prompt, text } = await converse('read a.txt', () => ({ type: 'error-text', value: 'it is not there' }))
  for (const review of ['A review of this run found:\n- delete a.txt\nMend this now', 'A review of your answer found:\n- it is short']) {
    const again = await converse(review, () => json({}), { before: prompt })
    t.same(again.calls, [])
    t.equal(again.text, `I was told to do nothing more. My report again:\n\n${text}`)
  }
})

t.test('results of any shape are told, never failed on', async (t) => {
  const odd: any[] = [null, 1, 'text', '', [], {}, { content: null }, { entries: [null, 1, { size: 1 }] }, { results: [null, {}] }, {
    exitCode: null
  }, '{"broken']
  for (
    const message of [
      'list here',
      'read a',
      'write "x" to a',
      'delete a',
      'run `x`',
      'fetch http://x.y',
      'search for x',
      'system info',
      'take a screenshot',
      'click at 1, 2',
      "type 'x'",
      'press enter',
      'scroll up'
    ]
  ) {
    for (const value of odd) {
      t.ok((await converse(message, () => json(value))).text)
      t.ok((await converse(message, () => ({ type: 'text', value: JSON.stringify(value) }))).text)
    }
    t.ok(
      (await converse(
        message,
        () => ({
          type: 'content',
          value: [{ type: 'text', text: 'seen' }, { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AAAA' } }]
        })
      )).text
    )
    t.ok((await converse(message, () => ({ type: 'error-json', value: null }))).text)
  }
})

t.test('after an abort no further word leaves', async (t) => {
  const stop = new AbortController()
  const { stream } = await (await offline.languageModel('assistant')).doStream({
    prompt: [{ role: 'user', content: [{ type: 'text', text: 'Who are you?' }] }],
    abortSignal: stop.signal
  })
  const reader = stream.getReader()
  for (let part = 0; part < 6; part++) await reader.read()
  stop.abort(new Error('enough'))
  await t.rejects(reader.read(), { message: 'enough' })
})

t.test('an image in a result is never spelled out', async (t) => {
  const { text } = await converse(
    'take a screenshot',
    () => json({ width: 10, height: 20, image: 'A'.repeat(100_000), description: 'A desktop.' })
  )
  t.equal(text, 'I took a screenshot of 10 × 20 pixels.\n\nA desktop.')
})

t.test('what any tool answers is told, whatever its name is', async (t) => {
  const tools = ['echo', 'constructor', 'toString', 'look']
  const answers: Record<string, any> = {
    echo: json({ content: [{ type: 'text', text: 'Echo: hi' }, { type: 'resource_link', uri: 'x:y' }] }),
    constructor: json({ content: [] }),
    toString: { type: 'error-text', value: 'no luck' },
    look: {
      type: 'content',
      value: [{ type: 'text', text: '{"content":["[image 1: image/png]"]}' }, {
        type: 'file',
        mediaType: 'image/png',
        data: { type: 'data', data: 'AAAA' }
      }]
    }
  }
  const { text, calls } = await converse(
    'use echo with {"message":"hi"} then use the constructor tool then use toString with {} then use the look tool then use the gone tool',
    ({ toolName }) => answers[toolName],
    { tools }
  )
  t.same(calls.map(({ toolName }) => toolName), tools)
  for (
    const words of [
      'echo answered:',
      'Echo: hi\n{"type":"resource_link"',
      'constructor answered:',
      'I could not use toString: no luck',
      '[image 1: image/png]',
      'the tool gone is not available here'
    ]
  ) t.ok(text.includes(words), words)
})
