import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  chmodSync
} from 'node:fs'
import { join } from 'node:path'
import { hash, randomBytes } from 'node:crypto'
import t from 'tap'
import { newId } from '../../../services/lib/ids.ts'
import { fakeClock } from '../../harness/clock.ts'
import { openUndo } from './helper.ts'
import { onSmallDisk } from '../../harness/small-disk.ts'

const DAY = 24 * 60 * 60 * 1000

t.test('a move is one change, and goes back', async (t) => {
  const { at, change, changes, undo } = await openUndo(t)
  mkdirSync(at('folder/deep'), { recursive: true })
  writeFileSync(at('folder/deep/a'), 'a')
  writeFileSync(at('file'), 'content')
  const runId = newId()
  await change(['file', 'renamed'], () => renameSync(at('file'), at('renamed')), { runId })
  await change(
    [{ path: 'folder', withContents: true }, { path: 'moved', withContents: true }],
    () => renameSync(at('folder'), at('moved')),
    { runId }
  )
  t.match(await changes(runId), [
    { kind: 'moved', from: at('file'), path: at('renamed'), canUndo: true },
    { kind: 'moved', from: at('folder'), path: at('moved'), inner: 2, canUndo: true }
  ])
  t.match(await undo.takeBack(runId, {}), { skipped: [] })
  t.equal(readFileSync(at('file'), 'utf8'), 'content')
  t.equal(readFileSync(at('folder/deep/a'), 'utf8'), 'a')
  t.notOk(existsSync(at('renamed')) || existsSync(at('moved')))
})

t.test('what another program did to the paths of a call that failed is no change of the run', async (t) => {
  const { at, change, changes, undo } = await openUndo(t)
  for (const name of ['changed', 'deleted', 'target']) writeFileSync(at(name), 'before')
  const runId = await change(
    ['changed', 'deleted', 'new', { path: 'target', withContents: true }, { path: 'source', withContents: true }],
    () => {
      for (const name of ['changed', 'new', 'target', 'source']) writeFileSync(at(name), 'theirs')
      rmSync(at('deleted'))
    },
    { changes: [] }
  )
  t.same(await changes(runId).catch(({ code }) => code), 'ERR_RUN_NOT_FOUND')
  await t.rejects(undo.takeBack(runId, {}))
  for (const name of ['changed', 'new', 'target', 'source']) t.equal(readFileSync(at(name), 'utf8'), 'theirs')
  t.notOk(existsSync(at('deleted')))
})

t.test('a moved folder that got something new stays, with what is in it', async (t) => {
  const { at, change, undo } = await openUndo(t)
  mkdirSync(at('folder'))
  writeFileSync(at('folder/a'), 'a')
  const runId = await change(
    [{ path: 'folder', withContents: true }, { path: 'moved', withContents: true }],
    () => renameSync(at('folder'), at('moved'))
  )
  writeFileSync(at('moved/new'), 'new')
  t.match(await undo.takeBack(runId, {}), { skipped: [{ path: at('moved'), reason: 'changed_since' }] })
  t.equal(readFileSync(at('moved/new'), 'utf8'), 'new')
  t.equal(readFileSync(at('folder/a'), 'utf8'), 'a')
})

t.test('the undo of a deleted tree can itself be undone', async (t) => {
  const { at, change, changes, undo } = await openUndo(t)
  mkdirSync(at('tree/deep/er'), { recursive: true })
  for (const name of ['tree/a', 'tree/deep/b', 'tree/deep/er/c']) writeFileSync(at(name), name)
  const runId = await change([{ path: 'tree', withContents: true }], () => rmSync(at('tree'), { recursive: true }))
  const { undoId } = await undo.takeBack(runId, {})
  t.equal(readFileSync(at('tree/deep/er/c'), 'utf8'), 'tree/deep/er/c')
  t.match(await changes(undoId!), [{ path: at('tree'), kind: 'created', inner: 5, canUndo: true }])
  t.match(await undo.takeBack(undoId!, {}), { skipped: [] })
  t.notOk(existsSync(at('tree')))
  t.same((await undo.takeBack(runId, { paths: ['tree/deep/b'] })).restored, ['tree', 'tree/deep', 'tree/deep/b'].map(at), 'one file of it')
})

t.test('a file that became a folder, and the other way round, in one run', async (t) => {
  const { at, change, undo } = await openUndo(t)
  writeFileSync(at('a'), 'file')
  mkdirSync(at('b'))
  writeFileSync(at('b/inner'), 'inner')
  const runId = newId()
  await change(['a'], () => rmSync(at('a')), { runId })
  await change(['a/now/in'], () => {
    mkdirSync(at('a/now'), { recursive: true })
    writeFileSync(at('a/now/in'), 'x')
  }, { runId })
  await change([{ path: 'b', withContents: true }], () => rmSync(at('b'), { recursive: true }), { runId })
  await change(['b'], () => writeFileSync(at('b'), 'file now'), { runId })
  const { undoId, skipped } = await undo.takeBack(runId, {})
  t.same(skipped, [])
  t.equal(readFileSync(at('a'), 'utf8'), 'file')
  t.equal(readFileSync(at('b/inner'), 'utf8'), 'inner')
  t.match(await undo.takeBack(undoId!, {}), { skipped: [] })
  t.equal(readFileSync(at('a/now/in'), 'utf8'), 'x')
  t.equal(readFileSync(at('b'), 'utf8'), 'file now')
})

t.test('files beyond the limit are changed without a copy, which the change says; an undo keeps what it could not keep', async (t) => {
  const { at, change, changes, undo, files } = await openUndo(t, { settings: { maxFileMb: 1 } })
  const large = randomBytes(1024 * 1024 + 1)
  writeFileSync(at('large'), large)
  writeFileSync(at('fits'), large.subarray(1))
  const runId = newId()
  await change(['large'], () => writeFileSync(at('large'), 'small'), { runId })
  await change(['fits'], () => rmSync(at('fits')), { runId })
  await change(['made'], () => writeFileSync(at('made'), large), { runId })
  t.match(await changes(runId), [
    { path: at('large'), canUndo: false, why: 'too_large' },
    { path: at('fits'), kind: 'deleted', canUndo: true },
    { path: at('made'), kind: 'created' }
  ])
  t.equal(files().length, 1)
  t.same((await undo.takeBack(runId, {})).skipped, [{ path: at('large'), reason: 'too_large' }, { path: at('made'), reason: 'too_large' }])
  t.ok(readFileSync(at('fits')).equals(large.subarray(1)))
  t.ok(existsSync(at('made')), 'nothing is removed that could not be had back')
})

t.test('what cannot be read or restored does not stop a call, and is named', {
  skip: process.platform === 'win32' || process.getuid?.() === 0
}, async (t) => {
  const { at, change, changes } = await openUndo(t)
  writeFileSync(at('secret'), 'x', { mode: 0o000 })
  const runId = await change(['secret'], () => rmSync(at('secret')))
  t.match(await changes(runId), [{ kind: 'deleted', canUndo: false, why: 'gone' }])
})

t.test('a file that somebody replaced between the copy and the change is not restored from the older copy', async (t) => {
  const { at, change, undo } = await openUndo(t)
  writeFileSync(at('file'), 'kept')
  const found = `sha256:${hash('sha256', 'by hand', 'base64url')}`
  const left = `sha256:${hash('sha256', 'after', 'base64url')}`
  const changed = [{ path: at('file'), before: found, after: left }]
  const runId = await change(['file'], () => writeFileSync(at('file'), 'after'), { changes: changed })
  t.match(await undo.takeBack(runId, {}), { restored: [], skipped: [{ path: at('file'), reason: 'gone' }] })
  t.equal(readFileSync(at('file'), 'utf8'), 'after')
})

t.test('a change that its tool had not announced is listed, and only what it made can be taken back', async (t) => {
  const { at, change, changes } = await openUndo(t)
  writeFileSync(at('other'), 'x')
  const runId = await change(['file'], () => {
    writeFileSync(at('other'), 'y')
    writeFileSync(at('made'), 'z')
  }, {
    changes: [{ path: at('other'), before: 'sha256:x', after: 'sha256:y' }, { path: at('made'), before: null, after: 'sha256:z' }]
  })
  t.match(await changes(runId), [{ path: at('other'), canUndo: false, why: 'gone' }, { path: at('made'), canUndo: true }])
})

t.test('a call that changes nothing leaves nothing behind', async (t) => {
  const { at, change, undo, files, store } = await openUndo(t)
  writeFileSync(at('file'), 'x')
  const runId = await change(['file'], () => writeFileSync(at('file'), 'x'))
  t.same(files(), [])
  await t.rejects(undo.changes(runId, { limit: 1 }), { code: 'ERR_RUN_NOT_FOUND' })
  for await (const key of store.keys('undo-open/')) t.fail(key)
})

t.test('what a killed call had moved aside comes back, when it is what stood there', async (t) => {
  const { at, keep, store, work, dir } = await openUndo(t)
  mkdirSync(at('folder/in'), { recursive: true })
  for (const name of ['folder/in/a', 'respelled', 'gone']) writeFileSync(at(name), name)
  const runId = newId()
  const begin = async (...places: Array<{ path: string, withContents?: boolean }>) =>
    store.transact((await keep(runId, places)).ops)
  await begin({ path: at('folder'), withContents: true })
  await begin({ path: at('respelled') }, { path: at('Respelled') })
  await begin({ path: at('gone') })
  renameSync(at('folder'), at(`.${newId()}.old`))
  renameSync(at('respelled'), at(`.${newId()}.old`))
  rmSync(at('gone'))
  const other = `.${newId()}.old`
  writeFileSync(at(other), 'of another call')
  await store.close()

  const { changes } = await openUndo(t, { dir })
  t.match(await changes(runId), [{ path: at('gone'), kind: 'deleted', canUndo: true }], 'the others changed nothing')
  t.same(readdirSync(work).sort(), [other, 'folder', 'respelled'])
  t.equal(readFileSync(at('folder/in/a'), 'utf8'), 'folder/in/a')
})

t.test('what a killed call was writing goes at the next start, and nothing that others made', async (t) => {
  const { at, keep, store, work, dir } = await openUndo(t)
  writeFileSync(at('file'), 'old')
  const runId = newId()
  await store.transact((await keep(runId, [{ path: at('file') }])).ops)
  const others = ['.01900000-0000-7000-8000-000000000000.tmp', '.mine.tmp', `.${newId()}.old`]
  for (const name of others) writeFileSync(at(name), 'of others')
  writeFileSync(at(`.${newId()}.tmp`), 'half of the n')
  linkSync(at('file'), at(`.${newId()}.old`))
  await store.close()

  const { changes } = await openUndo(t, { dir })
  t.same(await changes(runId).catch(() => []), [])
  t.same(readdirSync(work).sort(), [...others, 'file'].sort())
  t.equal(readFileSync(at('file'), 'utf8'), 'old')
})

t.test('a run of which an undo is asked while it is live is refused, and its changes are listed', async (t) => {
  const { at, change, changes, undo, live } = await openUndo(t)
  const runId = await change(['file'], () => writeFileSync(at('file'), 'x'))
  live.add(runId)
  t.equal((await changes(runId)).length, 1)
  await t.rejects(undo.takeBack(runId, { dryRun: true }), { code: 'ERR_RUN_LIVE' })
})

t.test('a copy that is damaged, cut short or exchanged restores nothing', async (t) => {
  const { at, change, undo, home, files } = await openUndo(t)
  const harms: Array<(path: string) => void> = [
    (path) => writeFileSync(path, Buffer.from(readFileSync(path).map((byte, at) => at === 5 ? byte ^ 1 : byte))),
    (path) => truncateSync(path, 300_000),
    (path) => writeFileSync(path, readFileSync(path).subarray(10)),
    (path) => rmSync(path)
  ]
  for (const harm of harms) {
    writeFileSync(at('file'), randomBytes(400_000))
    const runId = await change(['file'], () => writeFileSync(at('file'), 'after'))
    harm(join(home, 'undo', files().at(-1)!))
    t.match(await undo.takeBack(runId, {}), { restored: [], skipped: [{ path: at('file'), reason: 'gone' }] })
    t.equal(readFileSync(at('file'), 'utf8'), 'after')
    t.same(readdirSync(at('.')), ['file'], 'and nothing is left of it')
  }
})

t.test('a path outside of the folders that may be used today is not touched', async (t) => {
  const { dir, change, undo, roots } = await openUndo(t)
  const root = join(realpathSync(dir), 'elsewhere')
  mkdirSync(root)
  roots.push(root)
  writeFileSync(join(root, 'file'), 'before')
  const runId = await change(['../elsewhere/file'], () => writeFileSync(join(root, 'file'), 'after'))
  roots.pop()
  t.match(await undo.takeBack(runId, {}), { restored: [], skipped: [{ path: join(root, 'file'), reason: 'not_allowed' }] })
  t.equal(readFileSync(join(root, 'file'), 'utf8'), 'after')
  roots.push(root)
  t.match(await undo.takeBack(runId, {}), { skipped: [] })
})

t.test('hard links and the files of the service stay what they are', async (t) => {
  const { at, change, undo, home } = await openUndo(t)
  linkSync(join(home, 'master.key'), at('innocent'))
  const runId = await change(['innocent'], () => rmSync(at('innocent')))
  t.match(await undo.takeBack(runId, {}), { restored: [], skipped: [{ reason: 'gone' }] }, 'no copy of the key was made')
  symlinkSync(home, at('home'))
  const other = await change(['home/evil'], () => {})
  await t.rejects(undo.takeBack(other, {}), { code: 'ERR_RUN_NOT_FOUND' })
})

t.test('old entries and their files go, and so does what no entry names', async (t) => {
  const clock = fakeClock(Date.now())
  const { at, change, undo, files, home } = await openUndo(t, { clock, settings: { days: 2 } })
  writeFileSync(at('file'), 'x')
  const runId = await change(['file'], () => writeFileSync(at('file'), 'y'))
  writeFileSync(join(home, 'undo', newId()), 'abandoned before its record')
  await undo.sweep()
  t.equal(files().length, 1)
  await clock.advance(3 * DAY)
  await undo.sweep()
  t.same(files(), [])
  await t.rejects(undo.changes(runId, { limit: 1 }), { code: 'ERR_RUN_NOT_FOUND' })
})

t.test('the oldest copies make room for new ones, but none that an undo reads', async (t) => {
  const { at, change, undo, files, store } = await openUndo(t, { settings: { maxTotalMb: 4, maxFileMb: 2 } })
  const runs: string[] = []
  const MIB = 1024 * 1024
  for (let n = 0; n < 6; n++) {
    writeFileSync(at(`file-${n}`), randomBytes(MIB))
    runs.push(await change([`file-${n}`], () => writeFileSync(at(`file-${n}`), String(n))))
  }
  t.ok(files().length <= 3)
  t.match(await undo.takeBack(runs[0], {}), { restored: [], skipped: [{ reason: 'gone' }] })
  t.match(await undo.takeBack(runs[5], {}), { restored: [at('file-5')] })
  t.equal(statSync(at('file-5')).size, MIB)

  const both = newId()
  for (const name of ['one', 'two']) {
    writeFileSync(at(name), randomBytes(MIB))
    await change([name], () => writeFileSync(at(name), randomBytes(MIB)), { runId: both })
  }
  // The undo itself keeps 2 MiB, which is more than what is left.
  t.match(await undo.takeBack(both, {}), { restored: [at('one'), at('two')], skipped: [] })
  for await (const key of store.keys('undo-open/')) t.fail(key)
})

t.test('on a full disk nothing is changed without a copy, and an undo changes nothing or all of a file', async (t) => {
  const seen = onSmallDisk(t.testdir(), new URL('full-disk.ts', import.meta.url), 16)
  if (!seen) return t.pass('not tried', { skip: 'mounting a small file system is not permitted here' })
  const { refused, command, written, undoRefused, undone, copyRefused, applyRefused, applied, stuck, back, folderFull, folderFreed } = seen

  t.ok(refused.length >= 8)
  for (const each of refused) {
    t.match(each, { error: /could not be kept for an undo \(no space left on device\)\. Nothing was changed/, isOld: true, copies: 0 })
  }
  t.match(command, { error: /could not be kept for an undo \(no space left on device\)/, isOld: true, copies: 0 }, 'a command')
  t.match(written, { error: undefined, isOld: false, copies: 1 }, 'with room again, the same write succeeds')

  t.match(undoRefused, { answer: { statusCode: 503 }, file: 'new' })
  t.match(undone, { answer: { restored: [/file\.txt$/], skipped: [] }, isOld: true })

  const noRoom = { code: 'ERR_COPY_REFUSED', error: /no space left on device\. Make room on the disk/ }
  t.match(copyRefused, { answer: noRoom, left: { length: 0 } }, 'a copy of a folder')
  t.match(applyRefused, { answer: { statusCode: 503, code: 'ERR_UNDO_UNAVAILABLE' }, isOld: true })
  t.match(applied, { answer: { applied: [/file\.txt$/], skipped: [] }, file: 'new' })

  t.match(stuck, {
    answer: { statusCode: 503, code: 'ERR_UNDO_UNAVAILABLE', error: /no space left/ },
    file: 'new',
    files: ['file.txt']
  }, 'nothing is left of what found no room')
  t.match(back, { answer: { restored: [/file\.txt$/] }, isOld: true, files: ['file.txt'] })
  t.match(folderFull, {
    answer: { statusCode: 503, code: 'ERR_UNDO_UNAVAILABLE', error: /no space left.* what is applied so far stays\. Call it again/ },
    files: ['a.bin', 'file.txt'],
    first: 2 * 1024 * 1024,
    isOld: true
  }, 'each file is as before or as in the copy, and no part of one is left')
  t.match(folderFreed, { answer: { applied: { length: 2 }, skipped: [] }, files: ['a.bin', 'file.txt'], isOld: false })
  return undefined
})

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
