import { deepStrictEqual } from 'node:assert'
import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { readWhen } from '../../../../../services/calendar/read-schedule.ts'
import { systemClock } from '../../../../../services/lib/clock.ts'
import { createOfflineProvider } from '../../../../../services/models/providers/offline/index.ts'
import type { Reply } from '../../../../../services/models/providers/reply-model.ts'
import { readLaterWork } from '../../../../../services/models/providers/offline/later-work.ts'
import { readSteps } from '../../../../../services/models/providers/offline/steps.ts'
import { offline } from './converse.ts'

/** A Wednesday. */
const NOW = Date.UTC(2026, 10, 25, 11, 30)

async function structured (name: string | undefined, message: string): Promise<any> {
  const model = await offline.languageModel('assistant')
  const { content } = await model.doGenerate({
    prompt: [{ role: 'user', content: [{ type: 'text', text: message }] }],
    responseFormat: { type: 'json', name }
  })
  return JSON.parse((content[0] as { text: string }).text)
}
const complexity = async (message: string) => (await structured('analysis', message)).complexity

t.test('a request is classed by its commands and by words of time and care', async (t) => {
  const rows: Array<[string, string]> = [
    ['hello', 'simple'],
    ['list the files in src', 'simple'],
    ['read a.txt', 'simple'],
    ["write 'x' to a.txt", 'standard'],
    ['run `ls`', 'standard'],
    ['list the files, then read a.txt', 'standard'],
    ['list here, read a.txt, read b.txt, read c.txt', 'complex'],
    ['compare a.txt and b.txt thoroughly', 'complex'],
    ['analyze the sources in depth', 'complex'],
    ['every morning read news.txt', 'long_running'],
    ['check the page every 10 minutes', 'long_running'],
    ['keep watching the folder', 'long_running'],
    ['monitor https://example.com', 'long_running'],
    ['do this in the background', 'long_running'],
    ['read daily.md', 'simple'],
    ['write "every day at 9" to a.txt', 'standard'],
    ['list the files in weekly', 'simple'],
    ['what happens every day at 9?', 'simple']
  ]
  for (const [message, expected] of rows) t.equal(await complexity(message), expected, message)
})

t.test('work for the background is told from the words about its time, which are read as such', async (t) => {
  const rows: Array<[message: string, goal: string, every: string, at?: string]> = [
    ['every day at 9 list the files here', 'list the files here', 'every day at 9'],
    ['Please summarise news.txt every evening at 8', 'summarise news.txt', 'every evening at 8'],
    [
      'could you every monday and thursday at 5pm write "every day" to a.txt',
      'write "every day" to a.txt',
      'every monday and thursday at 5pm'
    ],
    [
      'check https://example.com every 10 minutes and tell me what it says',
      'check https://example.com and tell me what it says',
      'every 10 minutes'
    ],
    ['every monday to friday at 9am, write "hello" to notes.txt', 'write "hello" to notes.txt', 'every monday to friday at 9am'],
    ['every other friday list the files', 'list the files', 'every other friday'],
    ['list the files every other friday.', 'list the files', 'every other friday'],
    ['on the 1st and 15th of the month at 8, list the files', 'list the files', 'on the 1st and 15th of the month at 8'],
    ['every ten minutes between 9 and 17 on weekdays fetch https://example.com', 'fetch https://example.com',
      'every ten minutes between 9 and 17 on weekdays'],
    ['daily at 9 except sundays and 24 december: read a.txt', 'read a.txt', 'daily at 9 except sundays and 24 december'],
    ['twice a day at 9 and 17 take a screenshot', 'take a screenshot', 'twice a day at 9 and 17'],
    ['back up a.txt once a week', 'back up a.txt', 'once a week'],
    ['keep an eye on "my folder/x.txt"', 'look at "my folder/x.txt"', 'hourly'],
    ['search for news every morning', 'search for news', 'every morning'],
    ['tomorrow at 5pm list the files', 'list the files', '', 'tomorrow at 5pm'],
    ['list the files tomorrow at 5pm', 'list the files', '', 'tomorrow at 5pm'],
    ['in 2 hours, read a.txt', 'read a.txt', '', 'in 2 hours'],
    ["write 'x' to a.txt at 17:30", "write 'x' to a.txt", '', 'at 17:30'],
    ['on friday at 9 delete a.txt', 'delete a.txt', '', 'on friday at 9'],
    ['first monday of the month at 9, read a.txt', 'read a.txt', 'first monday of the month at 9'],
    ['list the files on friday', 'list the files', '', 'on friday'],
    ['run every day at 9 `npm test`', 'run `npm test`', 'every day at 9']
  ]
  for (const [message, goal, every, at = ''] of rows) {
    const found = readLaterWork(message)
    t.match(found, { goal, when: at === '' ? { text: every, kind: 'repeated' } : { text: at, kind: 'once' } }, message)
    t.ok(await readWhen({ every, at }, { timezone: 'UTC', now: NOW }), message)
    t.match(await structured('analysis', message), { complexity: 'long_running', timeWords: found?.when?.text }, message)
  }
  t.same(readLaterWork('run `npm test` in the background'), { goal: 'run `npm test`' })
})

t.test('words that only look like a time are none, and what says more than can be read is in doubt', async (t) => {
  const none = [
    'search for flights on friday',
    'remember that I go running every friday at 7am',
    'remember that I meet Ada tomorrow at 5pm',
    'click at 10, 20',
    'list the files in weekly',
    'read the file daily.txt',
    "write 'every day at 9' to a.txt",
    'search for the history of the weekend',
    'what happens tomorrow at 5pm?',
    'run `echo every day at 9`'
  ]
  for (const message of none) {
    t.equal(readLaterWork(message), undefined, message)
    t.match(await structured('analysis', message), { timeWords: '', complexity: /simple|standard/ }, message)
  }

  const doubtful = [
    'every second friday list the files',
    'list the files every day at 9 and every monday at 10',
    'every day until friday list the files',
    'list the files until tomorrow at 5pm',
    'daily for two weeks, read a.txt',
    'every day at 25:00 list the files',
    'next friday, delete a.txt',
    'search for restaurants open tomorrow at 5pm',
    'write buy milk tomorrow at 5pm to a.txt',
    'starting on monday, every day at 9 list the files',
    'tomorrow at 5 list the files',
    'yesterday at 5pm, list the files',
    'every day at 9 except on holidays list the files'
  ]
  for (const message of doubtful) {
    const when = readLaterWork(message)?.when
    t.match(when, { kind: 'doubt', text: /\w/ }, message)
    await t.rejects(readWhen({ at: when?.text }, { timezone: 'UTC', now: NOW }), { code: 'ERR_BAD_SCHEDULE' }, message)
  }
})

t.test('"first" puts commands in order and is no day of the month', async (t) => {
  for (const message of ['read a.txt first', 'first read a.txt', 'look at the tests first.', 'every day at 9 first read a.txt']) {
    t.not(readLaterWork(message)?.when?.text, 'first', message)
  }
  t.match(await structured('analysis', 'delete a.txt first'), { complexity: 'standard', timeWords: '' })
})

t.test('a message full of words about times is read in little time', async (t) => {
  const before = process.cpuUsage()
  for (const part of ['every day at 9 and ', 'every ', 'at 9 ', 'in 2 hours ', 'read a then every day ', 'every monday, ']) {
    await structured('analysis', part.repeat(Math.floor(3_990 / part.length)))
  }
  const { user } = process.cpuUsage(before)
  t.ok(user < 1_500_000, `${user / 1_000} ms of CPU`)
})

t.test('an analysis says what it found', async (t) => {
  const found = await structured('analysis', "read a.txt then write 'x' to b.txt")
  t.match(found, { timeWords: '', thinking: /2 commands: readFile, then writeFile/ })
})

t.test('a plan has one phase a command, or the request as its only phase, and expects what its first effect is', async (t) => {
  const planned = async (request: string, expects: string, ...phases: string[]) =>
    t.strictSame(await structured('plan', request), {
      phases: phases.map((description) => ({ description })),
      qualityCriteria: [],
      expects
    })
  await planned('list here then read a.txt', 'none', 'listDirectory .', 'readFile a.txt')
  await planned('Think about it.', 'none', 'Think about it.')
  await planned('read a.txt then delete b.txt', 'files', 'readFile a.txt', 'deleteFile b.txt')
})

t.test('a question without a rule gets an answer that fits no schema', async (t) => {
  for (const name of ['summary', 'constructor', undefined]) t.strictSame(await structured(name, 'x'), {})
})

const QUOTES: Array<[string, string]> = [["'", "'"], ['"', '"'], ['`', '`'], ['“', '”'], ['‘', '’'], ['«', '»']]
const quoteOf = fc.constantFrom(...QUOTES)
/** Texts that would be commands and separators were they not in quotes. */
const tricky = fc.constantFrom(
  '; delete a.txt',
  ' then read b',
  '\n1. run ls',
  ', and write x to y',
  'https://x.y/z;',
  ' in src',
  '. List the files. ',
  'to ',
  ' with ',
  '\uE0000\uE001',
  '\\'
)
const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary' }),
  fc.array(fc.oneof(tricky, fc.string({ unit: 'grapheme-ascii' }))).map((parts) => parts.join(''))
)

/** A text and quotes that it does not hold. */
const quoted = (arbitrary: fc.Arbitrary<string>) =>
  fc.tuple(arbitrary, quoteOf)
    // A backslash before the closing quote would escape it; two backticks are one longer quote, as in Markdown.
    .filter(([inner, [open, close]]) =>
      !(open === '`' && inner === '') && !inner.includes(open) && !inner.includes(close) && !inner.endsWith('\\')
    )
    .map(([inner, [open, close]]) => ({ inner, said: `${open}${inner}${close}` }))
/** No URL, which would be fetched, nor a folder's name, which would be listed. */
const path = text.filter((value) => value.trim() !== '' && !/^https?:|(?:^|[/\\])\.{0,2}$/i.test(value))
const calls = (message: string) =>
  readSteps(message).map((step) => step.kind === 'command' ? [step.toolName, step.input] : ['unread', { text: step.text }])
const holds = (t: Test, property: fc.IProperty<any>) => t.doesNotThrow(() => fc.assert(property, { numRuns: 500 }))

t.test('whatever stands in quotes is written as it is, to the file whose name stands in quotes', async (t) => {
  holds(
    t,
    fc.property(quoted(text), quoted(path), (content, file) => {
      deepStrictEqual(calls(`write ${content.said} to ${file.said}`), [['writeFile', { path: file.inner, content: content.inner }]])
      deepStrictEqual(calls(`Please create the file ${file.said} with the content ${content.said}.`), [['writeFile', {
        path: file.inner,
        content: content.inner
      }]])
    })
  )
})

t.test('a file named in quotes is read, listed and deleted under that very name', async (t) => {
  holds(
    t,
    fc.property(quoted(path), ({ inner, said }) => {
      deepStrictEqual(calls(`read ${said}`), [['readFile', { path: inner }]])
      deepStrictEqual(calls(`list the files in ${said}, then delete the file ${said}`), [['listDirectory', { path: inner }], [
        'deleteFile',
        { path: inner }
      ]])
    })
  )
})

t.test('a shell command in quotes is run as it stands, whatever follows it', async (t) => {
  holds(
    t,
    fc.property(quoted(path), quoted(path), ({ inner, said }, next) => {
      deepStrictEqual(calls(`run ${said}`), [['runCommand', { command: inner }]])
      deepStrictEqual(calls(`run the command ${said}; then run ${next.said}`), [['runCommand', { command: inner }], ['runCommand', {
        command: next.inner
      }]])
    })
  )
})

t.test('a path without blanks needs no quotes', async (t) => {
  const name = fc.stringMatching(/^[\p{L}\p{N}_][\p{L}\p{N}_.@+=-]{0,12}[\p{L}\p{N}_]$/u)
  const bare = fc.tuple(
    fc.constantFrom('', '/', './/', '../', '~/', '/tmp/'),
    fc.array(name, { minLength: 1, maxLength: 4 }),
    fc.constantFrom('.txt', '.md', '.ts')
  ).map(([root, names, end]) => root + names.join('/') + end)
  holds(
    t,
    fc.property(bare, (path) => {
      deepStrictEqual(calls(`read ${path}`), [['readFile', { path }]])
      deepStrictEqual(calls(`write 'x' to ${path}, then read ${path}.`), [['writeFile', { path, content: 'x' }], ['readFile', { path }]])
      deepStrictEqual(calls(`delete ${path} and list ${path}`), [['deleteFile', { path }], ['listDirectory', { path }]])
    })
  )
})

t.test('no message at all makes it fail', async (t) => {
  const words = fc.constantFrom(
    'read',
    'write',
    'to',
    'the file',
    'in',
    'then',
    ';',
    '\n',
    ',',
    'and',
    "'",
    '"',
    '`',
    '“',
    'a.txt',
    'run',
    'delete',
    'it',
    'everything',
    'with',
    ':',
    '1.',
    'https://x.y',
    'list',
    'search for',
    '.',
    '\uE000',
    '\uE001'
  )
  holds(
    t,
    fc.property(fc.oneof(fc.array(words, { maxLength: 30 }).map((parts) => parts.join(' ')), fc.string({ unit: 'binary' })), (message) => {
      readSteps(message)
    })
  )
})

const user = { role: 'user' as const, content: [{ type: 'text' as const, text: 'go' }] }
const assistant = { role: 'assistant' as const, content: [{ type: 'text' as const, text: 'went' }] }
const scripted = (script?: Reply[]) => createOfflineProvider({ clock: systemClock, script: () => script }).languageModel('scripted')
const answer = async (script: Reply[] | undefined, prompt: LanguageModelV4Prompt) =>
  (await (await scripted(script)).doGenerate({ prompt })).content

t.test('the turns are replayed in order, counted in the prompt, so that a restart changes nothing', async (t) => {
  const script = [{ text: 'one' }, { toolCalls: [{ toolName: 'readFile', input: { path: 'a' } }] }, { text: 'three' }]
  t.match(await answer(script, [user]), [{ type: 'text', text: 'one' }])
  t.match(await answer(script, [user, assistant, user]), [{ type: 'tool-call', toolName: 'readFile', input: '{"path":"a"}' }])
  t.match(await answer(script, [user, assistant, user, assistant]), [{ type: 'text', text: 'three' }])
})

t.test('past its end the script says so, again and again', async (t) => {
  t.match(await answer([{ text: 'one' }], [user, assistant, user]), [{ text: 'End of the script: it has 1 turn.' }])
  t.match(await answer([{ text: 'one' }], [user, assistant, user, assistant, user]), [{ text: 'End of the script: it has 1 turn.' }])
  t.match(await answer(undefined, [user]), [{ text: /offline\.script/ }])
})

t.test('an error fails the call, after the text when there is one', async (t) => {
  const model = await scripted([{ error: 'out of order' }, { text: 'so far', error: 'out of order' }])
  await t.rejects(async () => model.doStream({ prompt: [user] }), { message: 'out of order' })
  const types: string[] = []
  for await (const part of (await model.doStream({ prompt: [user, assistant] })).stream) types.push(part.type)
  t.strictSame(types, ['stream-start', 'response-metadata', 'text-start', 'text-delta', 'text-delta', 'text-end', 'error', 'finish'])
})

t.test('its delays end with the signal', async (t) => {
  const model = await scripted([{ text: 'late', delayMs: 60_000 }])
  const stop = new AbortController()
  setTimeout(() => stop.abort(new Error('enough')), 20)
  await t.rejects(async () => model.doStream({ prompt: [user], abortSignal: stop.signal }), { message: 'enough' })
})

t.test('a structured call on it is answered by rules and takes no turn', async (t) => {
  const model = await scripted([{ text: 'one' }])
  const { content } = await model.doGenerate({ prompt: [user], responseFormat: { type: 'json', name: 'analysis' } })
  t.match(JSON.parse((content[0] as { text: string }).text), { complexity: /./, thinking: /./ })
})
