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
  t.match(takeFolder({ ...request, next: first }), { is: 'recorded', contents: [first.contents.id], written })
  // Changes of the same moment could not be told apart, so the files are read once more.
  await setTimeout(150)
  const second = newFiles()
  takeFolder({ ...request, last: first.record, next: second })
  const last = second.record
  t.match(takeFolder({ ...request, last, next: newFiles() }), { is: 'recorded', written: undefined })
  t.same(diffFolder({ ...request, record: last }), { differences: [], units: {}, contents: {}, strange: [], unseen: [] })

  writeFileSync(at('a.txt'), 'two')
  renameSync(at('deep'), at('moved'))
  symlinkSync('a.txt', at('link'))
  const { differences, contents } = diffFolder({ ...request, record: last })
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
  t.match(takeFolder({ ...request, last, next: third }), { written: { contents: Number } })
  t.ok(readdirSync(request.store).length >= 5)
})

t.test('what is left out is said, and a folder that is too large is not recorded', (t) => {
  const { request, at } = lay(t, { file: 1000 })
  mkdirSync(at('node_modules/x'), { recursive: true })
  mkdirSync(at('dist'))
  writeFileSync(at('.gitignore'), 'dist/\n')
  const leftOut = { folders: ['dist', 'node_modules'], more: 0, files: 1 }
  t.match(takeFolder({ ...request }), { is: 'recorded', leftOut, written: undefined })
  const next = newFiles()
  takeFolder({ ...request, next })
  truncateSync(at('deep/b.bin'), 10)
  chmodSync(at('a.txt'), 0o600)
  // What .gitignore says by now changes nothing of what is known.
  writeFileSync(at('.gitignore'), 'deep/\n')
  t.match(diffFolder({ ...request, record: next.record }).differences, [
    { path: at('.gitignore') },
    { path: at('a.txt'), after: { mode: 0o600 } },
    { path: at('deep/b.bin'), notKept: 'too_large', before: { digest: /^stat:/ } }
  ])
  t.same(takeFolder({ ...request, limits: { ...request.limits, paths: 2 } }), { is: 'beyond', limit: 'paths' })
  t.same(takeFolder({ ...request, limits: { ...request.limits, bytes: 2 } }), { is: 'beyond', limit: 'bytes' })
  rmSync(request.store, { recursive: true })
  t.throws(() => diffFolder({ ...request, record: newFile() }), { message: 'its record is gone' })
  t.end()
})
