import { execFileSync } from 'node:child_process'
import { chmodSync, linkSync, mkdirSync, realpathSync, symlinkSync, truncateSync, writeFileSync, lstatSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { Aborted } from '../../../services/lib/abort.ts'
import { build, transform } from './helper.ts'
import { identityOf } from '../../../services/workspace/held-folder.ts'
import { findLines, findPaths, scanFiles } from '../../../services/tools/search/search-folder.ts'

t.teardown(transform.close)

function lay (t: Test, content: Parameters<Test['testdir']>[0] = {}, { own = '/no/such/folder' } = {}) {
  const workspace = realpathSync(t.testdir(content))
  const tools = build({ workspace, forbidden: own })
  const search = (input: object) => tools.output('searchFiles', input)
  return {
    workspace,
    ...tools,
    search,
    /** The matches as `path:line`. */
    places: async (input: object) => (await search(input)).matches.map(({ path, line }: any) => `${path}:${line}`),
    find: async (pattern: string, input: object = {}) => (await tools.output('findFiles', { pattern, ...input })).files,
    /** What a model sees of the matches. */
    seen: async (input: object) => (tools.host.forModel(await search(input), 'searchFiles') as any).value.matches
  }
}

const SOURCE = { 'b.ts': 'one\ntwo();\nthree\n', src: { 'a.ts': 'const two = 2\n', 'c.js': 'TWO\nno\ntwo.three\r\n' } }

t.test('searchFiles finds the lines that match a pattern, with their files and numbers', async (t) => {
  const { workspace, search, places, seen, failure } = lay(t, SOURCE)
  t.strictSame(await search({ pattern: 'two' }), {
    path: workspace,
    matches: [
      { path: 'b.ts', line: 2, text: 'two();' },
      { path: 'src/a.ts', line: 1, text: 'const two = 2' },
      { path: 'src/c.js', line: 3, text: 'two.three' }
    ],
    searched: 3
  })
  t.same(await places({ pattern: 'two', caseSensitive: false }), ['b.ts:2', 'src/a.ts:1', 'src/c.js:1', 'src/c.js:3'])
  t.same(await places({ pattern: '(?i)^TWO$' }), ['src/c.js:1'], 'flags of other dialects, and a line ends before CR')
  t.same(await places({ pattern: 'two(', literal: true }), ['b.ts:2'])
  t.same(await places({ pattern: 'two.three|t\\w{2}ee', glob: '*.js' }), ['src/c.js:3'])
  t.same(await places({ pattern: 'two', glob: 'src/**' }), ['src/a.ts:1', 'src/c.js:3'])
  t.same(await places({ pattern: 'two', path: 'src/a.ts' }), ['a.ts:1'], 'one file')
  t.same(await places({ pattern: '[^x]+two', path: 'b.ts' }), [], 'a match does not go over lines')
  t.same(await places({ pattern: 'one\\ntwo', path: 'b.ts' }), ['b.ts:1'], 'but when the pattern does')
  t.same(await places({ pattern: '(?<!const )two' }), ['b.ts:2', 'src/c.js:3'])
  t.same(await places({ pattern: '^(?!.*t)', glob: 'b.ts' }), ['b.ts:1'], 'a line that lacks something')
  t.same(await places({ pattern: '$', path: 'b.ts' }), ['b.ts:1', 'b.ts:2', 'b.ts:3'])
  t.equal(await seen({ pattern: 'two', path: 'b.ts', context: 1 }), 'b.ts\n1- one\n2: two();\n3- three')
  t.match(await search({ pattern: 'absent' }), { matches: [], message: /No line matches; 3 files were searched\./ })
  t.match(await failure('searchFiles', { pattern: 'absent(' }), /Unterminated group.*set literal to true/)
  t.match(await failure('searchFiles', { pattern: 'x', path: '/etc' }), /outside/)
  t.match(await failure('searchFiles', { pattern: 'x', glob: '../*' }), /relative to the searched folder/)
})

t.test('context of matches that are near each other is shown once', async (t) => {
  const { seen } = lay(t, { f: '1\n2 x\n3\n4 x\n5\n6\n7\n8\n9 x\n' })
  t.equal(await seen({ pattern: 'x', context: 1 }), 'f\n1- 1\n2: 2 x\n3- 3\n4: 4 x\n5- 5\n--\n8- 8\n9: 9 x')
})

t.test('the first line of a file has nothing before it, also if it is empty', async (t) => {
  const { seen } = lay(t, { f: '\n2\n3 x\n' })
  t.equal(await seen({ pattern: 'x', context: 4 }), 'f\n1- \n2- 2\n3: 3 x')
})

t.test('.gitignore is honoured: nested ones, negations, the one of the repository above', async (t) => {
  const file = 'x'
  const { places, find, search } = lay(t, {
    '.git': { config: file, HEAD: file },
    '.gitignore': '*.log\n/build\nnode_modules/\n!keep.log\n',
    'a.log': file,
    'keep.log': file,
    build: { out: file },
    node_modules: { m: { 'index.js': file, '.gitignore': '*' } },
    sub: { '.gitignore': '!b.log\nsecret.txt\nnode_modules/.cache', 'b.log': file, 'secret.txt': file, build: { kept: file } },
    other: { '.gitignore': '!node_modules/', node_modules: { again: file, 'n.log': file }, 'c.log': file },
    '.hidden': file
  })
  const all = ['.hidden', 'keep.log', 'other/node_modules/again', 'other/node_modules/n.log', 'sub/b.log', 'sub/build/kept']
  const dot = ['.gitignore', 'other/.gitignore', 'sub/.gitignore']
  t.same((await find('**')).filter((path: string) => !dot.includes(path)), all)
  t.same(await places({ pattern: '^x$' }), all.map((path) => `${path}:1`))
  t.same(await places({ pattern: '^x$', path: 'sub' }), ['b.log:1', 'build/kept:1'], 'the rules above hold in a subfolder')
  t.same(await find('*', { path: 'build' }), ['out'], 'an ignored folder that is named is searched')
  t.same(await find('*.js', { path: 'node_modules' }), [], 'by its own rules')
  t.match(await search({ pattern: 'x', path: 'a.log' }), { matches: [{ path: 'a.log', line: 1 }] }, 'and so is a file')
})

t.test('findFiles finds files by name or path, and folders', async (t) => {
  const { find, output, failure, host, workspace } = lay(t, {
    'a.ts': '',
    src: { 'a.test.ts': '', deep: { 'b.ts': '', 'c.TS': '' } },
    docs: {}
  })
  symlinkSync('a.ts', join(workspace, 'link.ts'))
  t.same(await find('*.ts'), ['a.ts', 'link.ts', 'src/a.test.ts', 'src/deep/b.ts'])
  t.same(await find('src/*.ts'), ['src/a.test.ts'])
  t.same(await find(join(workspace, 'src/**/b.*')), ['src/deep/b.ts'])
  t.same(await find('{docs,deep}/'), ['docs/', 'src/deep/'])
  t.match(await output('findFiles', { pattern: '*.ts', limit: 2 }), {
    files: ['a.ts', 'link.ts'],
    truncated: true,
    nextOffset: 2,
    message: /go on with offset 2/
  })
  t.same(await find('*.ts', { offset: 2, limit: 2 }), ['src/a.test.ts', 'src/deep/b.ts'])
  t.match(await output('findFiles', { pattern: 'none' }), { files: [], message: /No file matches/ })
  t.match(await failure('findFiles', { pattern: '*', path: 'a.ts' }), /is a file/)
  t.equal((host.forModel(await output('findFiles', { pattern: 'src/*' }), 'findFiles') as any).value.files, 'src/a.test.ts')
})

t.test('what is no text is skipped; other encodings are searched', async (t) => {
  const { workspace, search, places } = lay(t, {
    'latin.txt': Buffer.from('caf\xe9\n', 'latin1'),
    binary: Buffer.from('caf\0e'),
    'locked.txt': 'café'
  })
  writeFileSync(join(workspace, 'wide.txt'), Buffer.from('\ufeffx\r\ncafé\r\n', 'utf16le'))
  execFileSync('mkfifo', [join(workspace, 'pipe')])
  writeFileSync(join(workspace, 'sparse'), 'café\n')
  truncateSync(join(workspace, 'sparse'), 2 * 1024 ** 3)
  chmodSync(join(workspace, 'locked.txt'), 0)
  const found = await search({ pattern: 'caf[é]$' })
  const readable = process.getuid?.() === 0 ? ['locked.txt'] : []
  t.same(found.matches.map(({ path }: any) => path), ['latin.txt', ...readable, 'wide.txt'])
  t.equal(found.skipped, undefined)
  t.match((await search({ pattern: 'absent' })).message, /3 that are not text|2 that are not text/)
  t.same(
    await places({ pattern: 'x', path: 'pipe' }).catch(({ message }: Error) => message),
    '"pipe" is neither a folder nor a regular file.'
  )
})

t.test('a search leaves the folder by no link, and shows nothing of the service', { skip: process.platform === 'win32' }, async (t) => {
  const base = realpathSync(
    t.testdir({ work: { inside: 'SECRET' }, out: { outside: 'SECRET' }, own: { key: 'SECRET', data: { log: 'SECRET' } } })
  )
  const [work, own] = [join(base, 'work'), join(base, 'own')]
  symlinkSync('../out', join(work, 'folder'))
  symlinkSync('../out/outside', join(work, 'file'))
  symlinkSync('.', join(work, 'loop'))
  linkSync(join(own, 'key'), join(work, 'hard'))
  linkSync(join(own, 'data/log'), join(work, 'harder'))
  const { output, failure } = build({ workspace: work, roots: [base], forbidden: own })
  const places = async (input: object) => (await output('searchFiles', { pattern: 'SECRET', ...input })).matches.map(
    ({ path }: any) => path
  )
  t.same(await places({}), ['inside'])
  t.same(await places({ path: base }), ['out/outside', 'work/inside'])
  t.same((await output('findFiles', { pattern: 'key', path: base })).files, [])
  t.match(await failure('searchFiles', { pattern: 'x', path: own }), /off limits/)
  t.match(await failure('findFiles', { pattern: '*', path: '../own/data' }), /off limits/)
  t.same(await places({ path: 'hard' }), [], 'nor by its name')
})

t.test('answers are bounded at lines and say how to get the rest', async (t) => {
  const { search, workspace } = lay(t, { 'a.txt': 'match me\n'.repeat(250), 'min.js': `${'x'.repeat(50_000)}match${'y'.repeat(50_000)}` })
  const first = await search({ pattern: 'match' })
  t.match(first, { truncated: true, nextOffset: 100, message: /go on with offset 100/ })
  t.equal(first.matches.length, 100)
  const last = await search({ pattern: 'match', offset: 200 })
  t.equal(last.matches.length, 51)
  t.notOk(last.truncated)
  t.match(last.matches.at(-1), { path: 'min.js', line: 1, text: /^…x{100}matchy+…$/ })
  t.ok(last.matches.at(-1).text.length < 310)
  writeFileSync(join(workspace, 'wide'), `${'w'.repeat(290)}\n`.repeat(1_000))
  const wide = await search({ pattern: 'w', path: 'wide', limit: 1_000, context: 10 })
  t.ok(JSON.stringify(wide).length < 64 * 1024 && wide.nextOffset === wide.matches.length)
})

t.test('a model gets every answer uncut, also of long names and of scripts with long characters', async (t) => {
  const { workspace, output, host, find } = lay(t)
  const names = Array.from({ length: 500 }, (_, n) => `${n}-${'漢'.repeat(70)}`)
  for (const name of names) writeFileSync(join(workspace, name), `${'字'.repeat(250)}\n`)
  const calls = [
    ['listDirectory', {}, 'entries'],
    ['findFiles', { pattern: '*' }, 'files'],
    ['searchFiles', { pattern: '字' }, 'matches']
  ] as const
  for (const [tool, input, list] of calls) {
    let seen = 0
    for (let offset: number | undefined = 0; offset !== undefined;) {
      const answer: any = await output(tool, { ...input, limit: 500, offset })
      t.ok(Buffer.byteLength(JSON.stringify(host.forModel(answer, tool))) < 64 * 1024, tool)
      seen += answer[list].length
      offset = answer.nextOffset
    }
    t.equal(seen, 500, tool)
  }
  t.same((await find('*', { limit: 2_000 })).length < 500, true)
})

t.test('a pattern that backtracks without end is stopped, and the next search is answered', { timeout: 60_000 }, async (t) => {
  const { failure, places } = lay(t, { f: `${'a'.repeat(40)}!\n` })
  t.match(await failure('searchFiles', { pattern: '(a+)+$' }), /The search was stopped: it took longer than 10 s\. The pattern may repeat/)
  t.same(await places({ pattern: 'a!' }), ['f:1'])
})

t.test('a search can be aborted', async (t) => {
  const { execute } = lay(t, { f: `${'a'.repeat(40)}!\n` })
  const stop = new AbortController()
  const running = execute('searchFiles', { pattern: '(a+)+$' }, { signal: stop.signal })
  stop.abort(new Aborted('stop'))
  await t.rejects(running, stop.signal.reason)
})

t.test('a tree of 20,000 files is searched off the event loop', async (t) => {
  const { workspace, search, find } = lay(t)
  for (let folder = 0; folder < 200; folder++) {
    mkdirSync(join(workspace, `f${folder}`))
    for (let file = 0; file < 100; file++) {
      writeFileSync(
        join(workspace, `f${folder}/${file}.txt`),
      `line\n${folder === 150 && file === 50 ? 'needle' : 'hay'}\n`
      )
    }
  }
  let turns = 0
  const turning = setInterval(() => turns++, 5)
  const started = performance.now()
  t.match(await search({ pattern: 'needle' }), { matches: [{ path: 'f150/50.txt', line: 2 }], searched: 20_000 })
  t.same(await find('f199/99.*'), ['f199/99.txt'])
  clearInterval(turning)
  t.ok(turns > (performance.now() - started) / 50, 'timers run meanwhile')
})

// What the worker runs, called in this thread; search-files.test.ts calls it through the tools.

function layFolder (t: Test, content: Parameters<Test['testdir']>[0]) {
  const folder = realpathSync(t.testdir(content))
  const scope = { folder, parents: [], excluded: [], offset: 0, limit: 100 }
  return {
    folder,
    paths: (glob = '**', more: object = {}) => findPaths({ ...scope, glob, ...more }),
    lines: (pattern: string, more: object = {}) => findLines({ ...scope, pattern, caseSensitive: true, context: 0, ...more })
  }
}

t.test('files are found in order of their names; links are named and not followed, repositories are passed by', async (t) => {
  const { folder, paths } = layFolder(t, { b: '', a: { z: '', y: {} }, '.git': { config: '' }, '.hg': { x: '' }, '.hidden': '' })
  symlinkSync('a', `${folder}/link`)
  t.same(paths(), { paths: ['.hidden', 'a/z', 'b', 'link'], hasMore: false })
  t.same(paths('*/').paths, ['a/', 'a/y/'], 'a glob that ends with / finds folders')
  t.same(paths('z').paths, ['a/z'], 'a name is found at any depth')
  t.same(paths('**', { offset: 1, limit: 2 }), { paths: ['a/z', 'b'], hasMore: true })
  t.throws(() => paths('**', { folder: `${folder}/missing` }), { message: /moved or replaced/ })
})

t.test('.gitignore holds below its folder, and the innermost rule decides', async (t) => {
  const { folder, paths } = layFolder(t, {
    '.gitignore': '*.log\nbuild/\n/only-here\n',
    'a.log': '',
    'only-here': '',
    build: { out: '' },
    src: { '.gitignore': '!keep.log\nlocal\n', 'keep.log': '', 'b.log': '', local: '', 'only-here': '', deep: { local: '', 'c.log': '' } }
  })
  t.same(paths().paths, ['.gitignore', 'src/.gitignore', 'src/keep.log', 'src/only-here'])
  const inner = { folder: `${folder}/src/deep`, parents: [folder, `${folder}/src`] }
  t.same(paths('**', inner).paths, [], 'the rules of the folders above hold, too')
  t.same(paths('**', { ...inner, parents: [] }).paths, ['c.log', 'local'])
  t.same(paths('**', { folder: `${folder}/build`, parents: [folder] }).paths, ['out'], 'who searches an ignored folder means it')
})

t.test('what belongs to the service is passed by, as a folder and under another name', async (t) => {
  const { folder, paths, lines } = layFolder(t, { own: { secret: 'needle' }, shared: 'needle', other: 'needle' })
  const excluded = ['own', 'shared'].map((name) => identityOf(lstatSync(`${folder}/${name}`, { bigint: true })))
  t.same(paths('**', { excluded }).paths, ['other', 'shared'])
  t.match(lines('needle', { excluded }), { matches: [{ path: 'other' }], searched: 1, skipped: 1 }, 'neither is read')
})

t.test('lines are shown with what is around them, cut around the match, and spanned where the pattern does', async (t) => {
  const long = `${'x'.repeat(500)}needle${'y'.repeat(500)}`
  const { folder, lines } = layFolder(t, { 'a.txt': 'one\r\nneedle two\r\nthree\r\n', 'long.txt': long })
  writeFileSync(`${folder}/b.bin`, Buffer.from([1, 0, 2, 110]))
  writeFileSync(`${folder}/wide.txt`, Buffer.from('\ufeffthe needle', 'utf16le'))
  const { matches, searched, skipped } = lines('needle', { context: 1 })
  t.same({ searched, skipped }, { searched: 3, skipped: 1 }, 'what is no text is not searched')
  t.same(matches.map(({ path }) => path), ['a.txt', 'long.txt', 'wide.txt'])
  t.match(matches[0], { line: 2, text: 'needle two', before: ['one'], after: ['three'] })
  t.match(matches[1].text, /^…x{100}needley{194}…$/)
  t.match(lines('one\\r?\\nneedle', { glob: 'a.*' }).matches, [{ line: 1, text: 'one\nneedle two' }])
  const many = Array.from({ length: 30 }, (_, n) => `row ${n}`).join('\n')
  writeFileSync(`${folder}/many.txt`, many)
  t.match(lines('(?s)row 0.*row 29', { glob: 'many.txt' }).matches[0].text, /^row 0\n[^]*row 19\n… \(10 more lines\)$/)
  t.same(lines('row', { glob: 'many.txt', offset: 28, limit: 1 }), {
    matches: [{ path: 'many.txt', line: 29, text: 'row 28' }],
    searched: 1,
    skipped: 0,
    hasMore: true
  })
  t.match(lines('needle', { file: 'a.txt' }), { matches: [{ path: 'a.txt', line: 2 }], searched: 1 })
})

t.test('a scan lists the files that match with their sizes, follows no link, and ends where there are too many', async (t) => {
  const { workspace } = lay(t, { 'a.csv': 'a', 'b.txt': 'b', in: { 'c.csv': 'cc', deep: {} }, '.gitignore': 'out', out: { 'd.csv': 'd' } })
  symlinkSync('/etc', join(workspace, 'etc'))
  symlinkSync('/etc/hostname', join(workspace, 'host.csv'))
  const request = { folder: workspace, parents: [], excluded: [], glob: '*.csv', most: 10, mostFolders: 1 }
  t.match(scanFiles(request), {
    is: 'scanned',
    files: [['a.csv', 1, Number], ['in/c.csv', 2, Number]],
    folders: ['in/'],
    hasMoreFolders: true,
    closed: []
  })
  t.match(scanFiles({ ...request, mostFolders: 2 }), { folders: ['in/', 'in/deep/'], hasMoreFolders: false })
  t.same(scanFiles({ ...request, most: 2 }), { is: 'beyond' }, 'files that do not match count, too')
  t.throws(() => scanFiles({ ...request, folder: join(workspace, 'gone') }), /moved or replaced/)
})
