import { deepStrictEqual } from 'node:assert'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { readSteps } from '../../../../../services/models/providers/offline/split.ts'

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
