import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createHash } from 'node:crypto'
import { contentDigest } from '../../../services/tools/files/change-digest.ts'
import { build, over, tool } from './helper.ts'

const TEXT = 'import a\n\nfunction one () {\n  return 1\n}\n\nfunction two () {\n  return 1\n}\n'

function lay (t: Test, content: Parameters<Test['testdir']>[0] = { 'f.ts': TEXT }) {
  const workspace = realpathSync(t.testdir(content))
  const tools = build({ workspace })
  const at = (path: string) => join(workspace, path)
  return {
    at,
    ...tools,
    text: (path = 'f.ts') => readFileSync(at(path), 'utf8'),
    edit: (edits: object[], rest: object = {}) => tools.output('editFile', { path: 'f.ts', edits, ...rest }),
    refused: (edits: object[], rest: object = {}) => tools.failure('editFile', { path: 'f.ts', edits, ...rest })
  }
}

t.test('editFile replaces several texts in one write, and the model hears a line of it', async (t) => {
  const { at, edit, text, host, output } = lay(t)
  chmodSync(at('f.ts'), 0o640)
  const edited = await edit([
    { oldText: 'two () {\n  return 1', newText: 'two () {\n  return 2' },
    { oldText: 'import a\n', newText: '' }
  ])
  const expected = '\nfunction one () {\n  return 1\n}\n\nfunction two () {\n  return 2\n}\n'
  t.equal(text(), expected)
  t.equal(statSync(at('f.ts')).mode & 0o777, 0o640)
  t.match(edited, {
    path: at('f.ts'),
    replacements: 2,
    bytesWritten: expected.length,
    diff: /-import a\n[^]*- {2}return 1\n\+ {2}return 2\n/
  })
  t.strictSame((host.forModel(edited, 'editFile') as any).value, {
    path: at('f.ts'),
    replacements: 2,
    bytesWritten: expected.length,
    digest: (await output('readFile', { path: 'f.ts' })).digest
  })
  t.match(await edit([{ oldText: 'function', newText: 'async function', all: true }]), { replacements: 2 })
  t.same(readdirSync(at('.')), ['f.ts'], 'no temporary file is left')
})

t.test('an edit is recorded as one change of one file', async (t) => {
  const { at, execute, text } = lay(t)
  const { changes } = await execute('editFile', { path: './f.ts', edits: [{ oldText: 'import a', newText: 'import b' }] })
  t.same(changes, [{ path: at('f.ts'), before: contentDigest(TEXT), after: contentDigest(text()) }])
})

t.test('an edit that cannot be made changes nothing and says what is wrong', async (t) => {
  const { at, refused, text, failure } = lay(t)
  const good = { oldText: 'import a', newText: 'import b' }
  t.equal(
    await refused([good, { oldText: '  return 1', newText: 'x' }]),
    'The oldText of edit 2 occurs 2 times, on the lines 4, 8. Nothing was changed: ' +
      'give more of the text around the one place you mean, or set all to true to replace each.'
  )
  t.equal(
    await refused([{ oldText: 'function two () {\n    return 1\n}', newText: '' }]),
    'oldText is not in the file. Nothing was changed. These lines differ from it only in whitespace:\n' +
      '7→function two () {\n8→  return 1\n9→}'
  )
  t.equal(
    await refused([{ oldText: 'function two () {\n  return 2\n}', newText: '' }]),
    'oldText is not in the file. Nothing was changed. The nearest text is this; its line 8 is "  return 1", oldText has "  return 2":\n' +
      '7→function two () {\n8→  return 1\n9→}'
  )
  t.match(await refused([{ oldText: '3→function one () {\n4→  return 1', newText: '' }]), /holds the line numbers that readFile shows/)
  t.match(await refused([{ oldText: 'zebra crossing', newText: '' }]), /Nothing in the file is like it: read the file again/)
  t.match(
    await refused([{ oldText: 'one () {\n  ret', newText: '' }, { oldText: 'return 1\n}\n\nf', newText: '' }]),
    /edits 1 and 2 overlap at line 4/
  )
  t.match(await refused([{ oldText: 'import a', newText: 'import a' }]), /change nothing/)
  t.match(await refused([good], { path: 'none.ts' }), /does not exist\. Create a file with writeFile/)
  t.match(await failure('editFile', { path: 'f.ts', edits: [] }), /not valid/)
  t.equal(text(), TEXT)
  mkdirSync(at('folder'))
  t.match(await refused([good], { path: 'folder' }), /not a regular file/)
})

t.test('a text is found though it is written with characters that look the same, and the file keeps its own', async (t) => {
  const { at, edit, text } = lay(t)
  const cases: Array<[file: string, oldText: string, newText: string, after: string]> = [
    ['Art.\u00a05 applies', 'Art. 5 applies', 'Art. 6 applies', 'Art.\u00a06 applies'],
    ['zero\u200bwidth here', 'zerowidth here', 'zerowidth there', 'zero\u200bwidth there'],
    ['Donau\u00addampf', 'Donaudampf', 'Donaudampfer', 'Donau\u00addampfer'],
    ['it\u2019s \u201cfine\u201d \u2014 so', 'it\'s "fine" - so', 'it\'s "good" - so', 'it\u2019s \u201cgood\u201d \u2014 so'],
    ['print\uff08x\uff09\uff1b', 'print(x);', 'print(y);', 'print\uff08y\uff09\uff1b'],
    ['Café Zoë'.normalize('NFD'), 'Café Zoë', 'Café Zoé', `${'Café Zo'.normalize('NFD')}é`],
    ['가나다'.normalize('NFD'), '가나다', '가나라', `${'가나'.normalize('NFD')}라`],
    ['a\u2026b \ufb01x', 'a...b fix', 'a...b fox', 'a\u2026b fox'],
    ['x\u2013y\r\nz\u00a0z', 'x-y\nz z', 'x-y\nz y', 'x\u2013y\r\nz\u00a0y'],
    ['plain', 'pl\u200bain', 'plane', 'plane']
  ]
  for (const [file, oldText, newText, after] of cases) {
    writeFileSync(at('f.ts'), `before \u2019 ${file} behind\u00a0it\n`)
    await edit([{ oldText, newText }])
    t.equal(text(), `before \u2019 ${after} behind\u00a0it\n`, oldText)
  }
  writeFileSync(at('f.ts'), 'it\u2019s, it\u2018s')
  await edit([{ oldText: "it's", newText: 'is', all: true }])
  t.equal(text(), 'is, is')
})

t.test('what looks the same twice, or is part of a character, is not replaced; a difference that nobody sees is named', async (t) => {
  const { at, refused, text } = lay(t)
  const file = 'it\u2019s one\nit\u2018s two\n\ufb01nd\nnumber \u0661\u0662 here\n'
  writeFileSync(at('f.ts'), file)
  t.match(await refused([{ oldText: "it's", newText: 'x' }]), /occurs 2 times, on the lines 1, 2/)
  t.match(await refused([{ oldText: 'ind', newText: 'x' }]), /is not in the file/, 'half of a ligature')
  t.match(
    await refused([{ oldText: 'number 12 here', newText: 'x' }]),
    /its line 4 .*: at character 8 the file has U\+0661 \(\u0661\), oldText has U\+0031 \(1\)/
  )
  t.match(await refused([{ oldText: 'number \u0661\t\u0662 here', newText: 'x' }]), /differ.* only in whitespace/)
  t.equal(text(), file)
})

t.test('a digest guards against changes since the file was read', async (t) => {
  const { at, edit, refused, output, text } = lay(t)
  const { digest } = await output('readFile', { path: 'f.ts', limit: 1 })
  const first = await edit([{ oldText: 'import a', newText: 'import b' }], { digest })
  t.match(await refused([{ oldText: 'import b', newText: 'import c' }], { digest }), /has changed since it was read/)
  await edit([{ oldText: 'import b', newText: 'import c' }], { digest: first.digest })
  writeFileSync(at('f.ts'), `${text()}more\n`)
  t.match(await refused([{ oldText: 'import c', newText: 'import d' }], { digest: first.digest }), /read it again/)
})

t.test('line ends are those of the file, wherever they are', async (t) => {
  const { edit, text, at, output } = lay(t, { 'f.ts': 'one\r\ntwo\r\nthree\r\n', mixed: 'a\r\nb\nc\r\n' })
  t.match(await output('readFile', { path: 'f.ts' }), { lineEnds: 'crlf', content: 'one\r\ntwo\r\nthree\r\n' })
  t.match(await edit([{ oldText: 'one\ntwo', newText: '1\n2\n2b' }, { oldText: 'three\r\n', newText: '3\r\n4\n' }]), { lineEnds: 'crlf' })
  t.equal(text(), '1\r\n2\r\n2b\r\n3\r\n4\r\n')
  t.match(await output('readFile', { path: 'mixed' }), { lineEnds: 'mixed' })
  await edit([{ oldText: 'b', newText: 'b\nb2' }, { oldText: 'c', newText: 'c\nc2' }], { path: 'mixed' })
  t.equal(readFileSync(at('mixed'), 'utf8'), 'a\r\nb\nb2\nc\r\nc2\r\n')
})

t.test('encodings are kept, byte order marks included, and what they lack is refused', async (t) => {
  const { edit, at, refused, output } = lay(t, { 'latin.txt': Buffer.from('caf\xe9 \x80\x93\n', 'latin1'), 'bom.txt': '\ufeffcafé\n' })
  const wide = Buffer.from('\ufeffcafé\r\n', 'utf16le')
  writeFileSync(at('le.txt'), wide)
  writeFileSync(at('be.txt'), Buffer.from(wide).swap16())
  for (const path of ['latin.txt', 'bom.txt', 'le.txt', 'be.txt']) await edit([{ oldText: 'café', newText: 'thé' }], { path })
  t.same(readFileSync(at('latin.txt')), Buffer.from('th\xe9 \x80\x93\n', 'latin1'))
  t.equal(readFileSync(at('bom.txt'), 'utf8'), '\ufeffthé\n')
  t.same(readFileSync(at('le.txt')), Buffer.from('\ufeffthé\r\n', 'utf16le'))
  t.same(readFileSync(at('be.txt')), Buffer.from('\ufeffthé\r\n', 'utf16le').swap16())
  t.match(await output('readFile', { path: 'latin.txt' }), { content: 'thé €“\n', encoding: 'windows-1252' })
  t.match(await output('readFile', { path: 'be.txt' }), { content: 'thé\r\n', encoding: 'utf-16be', lineEnds: 'crlf' })
  t.match(await refused([{ oldText: 'thé', newText: '茶' }], { path: 'latin.txt' }), /is in windows-1252, which lacks some characters/)
  await edit([{ oldText: 'thé', newText: '茶😀' }], { path: 'le.txt' })
  t.match(await output('readFile', { path: 'le.txt' }), { content: '茶😀\r\n' })
})

t.test('writeFile keeps the encoding and the line ends of a file that it replaces', async (t) => {
  const { at, output } = lay(t, { 'latin.txt': Buffer.from('caf\xe9\r\n', 'latin1') })
  t.match(await output('writeFile', { path: 'latin.txt', content: 'thé\n' }), {
    encoding: 'windows-1252',
    lineEnds: 'crlf',
    bytesWritten: 5
  })
  t.same(readFileSync(at('latin.txt')), Buffer.from('th\xe9\r\n', 'latin1'))
  const made = await output('writeFile', { path: 'latin.txt', content: '茶\n' })
  t.notOk(made.encoding)
  t.equal(readFileSync(at('latin.txt'), 'utf8'), '茶\r\n', 'UTF-8 where the old encoding lacks a character')
  t.notOk('diff' in (build({ workspace: at('.') }).host.forModel(made, 'writeFile') as any).value, 'the model knows what it wrote')
})

t.test('what cannot be edited without loss is refused', async (t) => {
  const { at, refused, text } = lay(t, {
    'f.ts': Buffer.concat([Buffer.from('é'.repeat(20)), Buffer.from([0xff]), Buffer.from('abc')]),
    zip: Buffer.from('PK\x03\x04\0\0'),
    big: 'x'
  })
  const abc = [{ oldText: 'abc', newText: 'x' }]
  t.match(await refused(abc), /bytes that are not utf-8; an edit would lose them/)
  t.match(await refused(abc, { path: 'zip' }), /is a ZIP archive, not text/)
  truncateSync(at('big'), 2 * 1024 ** 3)
  t.match(await refused(abc, { path: 'big' }), /larger than the 10485760 bytes/)
  t.match(text(), /abc$/)
})

t.test('a link is edited where it leads, and never outside', { skip: process.platform === 'win32' }, async (t) => {
  const base = realpathSync(t.testdir({ work: { 'f.ts': 'abc' }, out: { secret: 'abc' }, own: { key: 'abc' } }))
  const { output, failure } = build({ workspace: join(base, 'work'), forbidden: join(base, 'own') })
  symlinkSync('f.ts', join(base, 'work/inside'))
  symlinkSync('../out/secret', join(base, 'work/outside'))
  linkSync(join(base, 'own/key'), join(base, 'work/hard'))
  const edits = [{ oldText: 'abc', newText: 'def' }]
  await output('editFile', { path: 'inside', edits })
  t.equal(readFileSync(join(base, 'work/f.ts'), 'utf8'), 'def')
  t.match(await failure('editFile', { path: 'outside', edits }), /outside the folders/)
  t.match(await failure('editFile', { path: 'hard', edits }), /off limits/)
  t.same([readFileSync(join(base, 'out/secret'), 'utf8'), readFileSync(join(base, 'own/key'), 'utf8')], ['abc', 'abc'])
})

t.test('the nearest text of a large file is found in bounded time', async (t) => {
  const { at, refused } = lay(t, {})
  writeFileSync(at('f.ts'), Array.from({ length: 100_000 }, (_, n) => `  const value${n} = compute(${n}, options)\n`).join(''))
  const before = process.cpuUsage()
  t.match(
    await refused([{ oldText: '  const value77 = computed(77, options)', newText: '' }]),
    /78→ {2}const value77 = compute\(77, options\)/
  )
  const { user } = process.cpuUsage(before)
  t.ok(user < 3_000_000, `${user / 1_000} ms of CPU`)
})

function layChanges (t: Test, content: Parameters<Test['testdir']>[0] = {}) {
  const workspace = realpathSync(t.testdir(content))
  const { execute } = build({ workspace })
  const changes = async (...call: Parameters<typeof execute>) => (await execute(...call)).changes
  return { at: (path: string) => join(workspace, path), changes }
}
const digest = (text: string) => `sha256:${createHash('sha256').update(text).digest('base64url')}`

t.test('a write is recorded with the digests of the file before and after it', async (t) => {
  const { at, changes } = layChanges(t)
  const write = (content: string) => changes('writeFile', { path: './a/b.txt', content })
  t.same(await write('one'), [{ path: at('a/b.txt'), before: null, after: digest('one') }])
  t.same(await write('two'), [{ path: at('a/b.txt'), before: digest('one'), after: digest('two') }])
  t.same(await write('two'), [{ path: at('a/b.txt'), before: digest('two'), after: digest('two') }], 'also when nothing changes')
})

t.test('large files are told apart, too', async (t) => {
  const [large, larger] = ['x'.repeat(9_000_000), 'x'.repeat(9_000_001)]
  const { at, changes } = layChanges(t, { large, 'too-large': 'x'.repeat(17_000_000) })
  t.same(
    await changes('writeFile', { path: 'large', content: larger }),
    [{ path: at('large'), before: digest(large), after: digest(larger) }]
  )
  t.same(await changes('deleteFile', { path: 'too-large' }), [{ path: at('too-large'), before: 'size:17000000', after: null }])
})

t.test('a deletion is recorded with what was there', async (t) => {
  const { at, changes } = layChanges(t, { file: 'text', unreadable: 'x', folder: { inner: 'x' } })
  symlinkSync('file', at('link'))
  chmodSync(at('unreadable'), 0)
  t.same(await changes('deleteFile', { path: 'link' }), [{ path: at('link'), before: 'symlink', after: null }])
  t.same(await changes('deleteFile', { path: 'file' }), [{ path: at('file'), before: digest('text'), after: null }])
  t.same(await changes('deleteFile', { path: 'folder', recursive: true }), [{ path: at('folder'), before: 'directory', after: null }])
  t.match(await changes('deleteFile', { path: 'unreadable' }), [{ path: at('unreadable'), before: String, after: null }])
})

t.test('calls that change nothing record nothing, and a record has a bound', async (t) => {
  const { changes } = layChanges(t, { folder: { inner: 'x' } })
  t.same(await changes('readFile', { path: 'folder/inner' }), undefined)
  t.same(await changes('deleteFile', { path: 'folder' }), undefined)
  const { execute } = over(t, [
    tool('many', async (_input, { changed }) => {
      for (let n = 0; n < 1_000; n++) changed?.({ path: `/${n}`, before: null, after: 'x' })
      throw new Error('and failed then')
    }, { effects: { files: async () => ({ changed: [], preview: async () => ({}) }) } })
  ])
  const { status, changes: recorded } = await execute('many', {})
  t.equal(status, 'error')
  t.equal(recorded?.length, 100)
})
