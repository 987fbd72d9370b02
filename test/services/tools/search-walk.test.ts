import { lstatSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { identityOf } from '../../../services/tools/path-policy.ts'
import { findLines, findPaths } from '../../../services/tools/search/search-folder.ts'

// What the worker runs, called in this thread; search-files.test.ts calls it through the tools.

function lay (t: Test, content: Parameters<Test['testdir']>[0]) {
  const folder = realpathSync(t.testdir(content))
  const scope = { folder, parents: [], excluded: [], offset: 0, limit: 100 }
  return {
    folder,
    paths: (glob = '**', more: object = {}) => findPaths({ ...scope, glob, ...more }),
    lines: (pattern: string, more: object = {}) => findLines({ ...scope, pattern, caseSensitive: true, context: 0, ...more })
  }
}

t.test('files are found in order of their names; links are named and not followed, repositories are passed by', async (t) => {
  const { folder, paths } = lay(t, { b: '', a: { z: '', y: {} }, '.git': { config: '' }, '.hg': { x: '' }, '.hidden': '' })
  symlinkSync('a', `${folder}/link`)
  t.same(paths(), { paths: ['.hidden', 'a/z', 'b', 'link'], hasMore: false })
  t.same(paths('*/').paths, ['a/', 'a/y/'], 'a glob that ends with / finds folders')
  t.same(paths('z').paths, ['a/z'], 'a name is found at any depth')
  t.same(paths('**', { offset: 1, limit: 2 }), { paths: ['a/z', 'b'], hasMore: true })
  t.throws(() => paths('**', { folder: `${folder}/missing` }), { message: /moved or replaced/ })
})

t.test('.gitignore holds below its folder, and the innermost rule decides', async (t) => {
  const { folder, paths } = lay(t, {
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
  const { folder, paths, lines } = lay(t, { own: { secret: 'needle' }, shared: 'needle', other: 'needle' })
  const excluded = ['own', 'shared'].map((name) => identityOf(lstatSync(`${folder}/${name}`, { bigint: true })))
  t.same(paths('**', { excluded }).paths, ['other', 'shared'])
  t.match(lines('needle', { excluded }), { matches: [{ path: 'other' }], searched: 1, skipped: 1 }, 'neither is read')
})

t.test('lines are shown with what is around them, cut around the match, and spanned where the pattern does', async (t) => {
  const long = `${'x'.repeat(500)}needle${'y'.repeat(500)}`
  const { folder, lines } = lay(t, { 'a.txt': 'one\r\nneedle two\r\nthree\r\n', 'long.txt': long })
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
