import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { openUndo } from './helper.ts'

const tree = (path: string) => ({ path, withContents: true })

t.test('of a moved folder, what is too large to be kept stays where it was moved to, and the rest comes back', async (t) => {
  const { at, change, undo } = await openUndo(t, { settings: { maxFileMb: 0.001 } })
  mkdirSync(at('from'))
  writeFileSync(at('from/small'), 'small')
  writeFileSync(at('from/large'), 'x'.repeat(5000))
  const runId = await change([tree('from'), tree('to')], () => renameSync(at('from'), at('to')))
  const { skipped } = await undo.takeBack(runId, {})
  t.match(skipped.filter(({ path }) => path.endsWith('large')), [{ reason: 'too_large' }, { reason: 'too_large' }])
  t.equal(readFileSync(at('to/large'), 'utf8').length, 5000)
  t.equal(readFileSync(at('from/small'), 'utf8'), 'small')
})

t.test('when nothing is kept, an undo removes nothing', async (t) => {
  const { at, change, undo, files } = await openUndo(t, { settings: { maxTotalMb: 0 } })
  writeFileSync(at('old'), 'old')
  const moved = await change(['old', 'new'], () => renameSync(at('old'), at('new')))
  t.match((await undo.takeBack(moved, {})).restored, [])
  const made = await change(['made'], () => writeFileSync(at('made'), 'made'))
  t.match((await undo.takeBack(made, {})).restored, [])
  t.equal(readFileSync(at('new'), 'utf8') + readFileSync(at('made'), 'utf8'), 'oldmade')
  t.same(files(), [])
})

t.test('a chain of moves, edits and deletions over the same names comes back as it was', async (t) => {
  const { at, change, undo } = await openUndo(t)
  mkdirSync(at('a/deep'), { recursive: true })
  writeFileSync(at('a/deep/one'), '1')
  chmodSync(at('a/deep/one'), 0o4751)
  symlinkSync('deep/one', at('a/link'))
  writeFileSync(at('b'), 'b')
  const runId = await change(['b'], () => rmSync(at('b')))
  await change([tree('a'), tree('b')], () => renameSync(at('a'), at('b')), { runId })
  await change(['b/deep/one'], () => writeFileSync(at('b/deep/one'), '2'), { runId })
  await change(['a/deep'], () => {
    mkdirSync(at('a'))
    writeFileSync(at('a/deep'), 'a file now')
  }, { runId })
  await change([tree('b/deep'), tree('a/deep')], () => {
    rmSync(at('a/deep'))
    renameSync(at('b/deep'), at('a/deep'))
  }, { runId })
  await change([tree('b')], () => rmSync(at('b'), { recursive: true }), { runId })
  t.same((await undo.takeBack(runId, {})).skipped, [])
  t.equal(readFileSync(at('b'), 'utf8'), 'b')
  t.equal(readFileSync(at('a/link'), 'utf8'), '1')
  t.equal(statSync(at('a/deep/one')).mode & 0o7777, 0o751)
  t.notOk(existsSync(at('b/deep')))
})
