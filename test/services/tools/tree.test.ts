import { chmodSync, mkdirSync, readdirSync, realpathSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { newId } from '../../../services/lib/ids.ts'
import { diffFolder, takeFolder } from '../../../services/workspace/folder-snapshot.ts'
import type { RecordRequest } from '../../../services/workspace/tree-rpc.ts'

const newFile = () => ({ id: newId(), key: randomBytes(32).toString('base64') })
const newFiles = () => ({ record: newFile(), contents: newFile() })

/** A folder with two files, of which one is large, and what a record of it needs. */
function lay (t: Test, limits: Partial<RecordRequest['limits']> = {}) {
  const large = Buffer.alloc(600_000, 7).toString('latin1')
  const dir = realpathSync(t.testdir({ work: { 'a.txt': 'one', deep: { 'b.bin': large } }, store: {} }))
  const request = {
    ...{ folder: join(dir, 'work'), store: join(dir, 'store'), parents: [], excluded: [] },
    limits: { paths: 100, bytes: 1e6, file: 1e6, ...limits }
  }
  return { dir, request, at: (path: string) => join(dir, 'work', path) }
}

t.test('a folder is copied once, and then only what changed; what differs names its copy', async (t) => {
  const { request, at } = lay(t)
  const first = newFiles()
  const written = { contents: 600_003 + 4 * 16 }
  t.match(await takeFolder({ ...request, next: first }), { contents: [first.contents.id], written })
  // Changes of the same moment could not be told apart, so the files are read once more.
  await setTimeout(150)
  const second = newFiles()
  await takeFolder({ ...request, last: first.record, next: second })
  const last = second.record
  t.match(await takeFolder({ ...request, last, next: newFiles() }), { leftOut: '', written: undefined })
  t.same(await diffFolder({ ...request, record: last }), { differences: [], units: {}, contents: {}, strange: [], unseen: [] })

  writeFileSync(at('a.txt'), 'two')
  renameSync(at('deep'), at('moved'))
  symlinkSync('a.txt', at('link'))
  const { differences, contents } = await diffFolder({ ...request, record: last })
  t.match(differences, [
    { path: at('a.txt'), before: { kind: 'file', size: 3 }, after: { kind: 'file', size: 3 }, copy: { chunk: Number } },
    { path: at('deep'), before: { kind: 'folder' }, after: null },
    { path: at('deep/b.bin'), before: { kind: 'file', size: 600_000 }, after: null },
    { path: at('link'), before: null, after: { kind: 'link', target: 'a.txt' } },
    { path: at('moved'), before: null, after: { kind: 'folder' } },
    { path: at('moved/b.bin'), before: null, after: { kind: 'file', size: 600_000 } }
  ])
  t.ok(Object.keys(contents).length > 0)
  const third = newFiles()
  t.match(await takeFolder({ ...request, last, next: third }), { written: { contents: Number } })
  t.ok(readdirSync(request.store).length >= 5)
})

t.test('what is left out is said, and a folder that is too large is not recorded', async (t) => {
  const { request, at } = lay(t, { file: 1000 })
  mkdirSync(at('node_modules/x'), { recursive: true })
  mkdirSync(at('dist'))
  writeFileSync(at('.gitignore'), 'dist/\n')
  const leftOut = 'No copy is kept of dist, node_modules. No copy is kept of 1 file too large or unreadable.'
  t.match(await takeFolder({ ...request }), { leftOut, written: undefined })
  const next = newFiles()
  await takeFolder({ ...request, next })
  truncateSync(at('deep/b.bin'), 10)
  chmodSync(at('a.txt'), 0o600)
  // What .gitignore says by now changes nothing of what is known.
  writeFileSync(at('.gitignore'), 'deep/\n')
  t.match((await diffFolder({ ...request, record: next.record })).differences, [
    { path: at('.gitignore') },
    { path: at('a.txt'), after: { mode: 0o600 } },
    { path: at('deep/b.bin'), notKept: 'too_large', before: { digest: /^stat:/ } }
  ])
  const within = (limits: object) => takeFolder({ ...request, limits: { ...request.limits, ...limits } })
  t.same(await within({ paths: 2 }), { why: 'The folder holds more than 2 files and folders: no copy of them is kept.' })
  t.match(await within({ bytes: 2 }), { why: /larger than 0 MiB together/ })
  rmSync(request.store, { recursive: true })
  await t.rejects(diffFolder({ ...request, record: newFile() }), { message: 'its record is gone' })
})
