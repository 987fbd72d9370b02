import { createHash } from 'node:crypto'
import { chmodSync, realpathSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { build, over, tool } from './helper.ts'

function lay (t: Test, content: Parameters<Test['testdir']>[0] = {}) {
  const workspace = realpathSync(t.testdir(content))
  const { execute } = build({ workspace })
  const changes = async (...call: Parameters<typeof execute>) => (await execute(...call)).changes
  return { at: (path: string) => join(workspace, path), changes }
}
const digest = (text: string) => `sha256:${createHash('sha256').update(text).digest('base64url')}`

t.test('a write is recorded with the digests of the file before and after it', async (t) => {
  const { at, changes } = lay(t)
  const write = (content: string) => changes('writeFile', { path: './a/b.txt', content })
  t.same(await write('one'), [{ path: at('a/b.txt'), before: null, after: digest('one') }])
  t.same(await write('two'), [{ path: at('a/b.txt'), before: digest('one'), after: digest('two') }])
  t.same(await write('two'), [{ path: at('a/b.txt'), before: digest('two'), after: digest('two') }], 'also when nothing changes')
})

t.test('large files are told apart, too', async (t) => {
  const [large, larger] = ['x'.repeat(9_000_000), 'x'.repeat(9_000_001)]
  const { at, changes } = lay(t, { large, 'too-large': 'x'.repeat(17_000_000) })
  t.same(
    await changes('writeFile', { path: 'large', content: larger }),
    [{ path: at('large'), before: digest(large), after: digest(larger) }]
  )
  t.same(await changes('deleteFile', { path: 'too-large' }), [{ path: at('too-large'), before: 'size:17000000', after: null }])
})

t.test('a deletion is recorded with what was there', async (t) => {
  const { at, changes } = lay(t, { file: 'text', unreadable: 'x', folder: { inner: 'x' } })
  symlinkSync('file', at('link'))
  chmodSync(at('unreadable'), 0)
  t.same(await changes('deleteFile', { path: 'link' }), [{ path: at('link'), before: 'symlink', after: null }])
  t.same(await changes('deleteFile', { path: 'file' }), [{ path: at('file'), before: digest('text'), after: null }])
  t.same(await changes('deleteFile', { path: 'folder', recursive: true }), [{ path: at('folder'), before: 'directory', after: null }])
  t.match(await changes('deleteFile', { path: 'unreadable' }), [{ path: at('unreadable'), before: String, after: null }])
})

t.test('calls that change nothing record nothing, and a record has a bound', async (t) => {
  const { changes } = lay(t, { folder: { inner: 'x' } })
  t.same(await changes('readFile', { path: 'folder/inner' }), undefined)
  t.same(await changes('deleteFile', { path: 'folder' }), undefined)
  const { execute } = over(t, [
    tool('many', async (_input, { changed }) => {
      for (let n = 0; n < 1_000; n++) changed?.({ path: `/${n}`, before: null, after: 'x' })
      throw new Error('and failed then')
    }, { reportsChanges: true })
  ])
  const { status, changes: recorded } = await execute('many', {})
  t.equal(status, 'error')
  t.equal(recorded?.length, 100)
})
