import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { newId } from '../../../services/lib/ids.ts'
import { stateOf } from '../../harness/folders.ts'
import { openUndo } from './helper.ts'

const NOBODY = 65534
const skip = process.platform === 'linux' ? false : 'permissions are given back to what is unreadable on Linux'

/** What root may read whatever its permissions say, an ordinary user may not: the test goes on as one. */
async function asUser (t: Test) {
  const dir = mkdtempSync(join(tmpdir(), 'undo-user-'))
  const isRoot = process.getuid!() === 0
  if (isRoot) {
    chmodSync(dir, 0o777)
    process.seteuid!(NOBODY)
  }
  t.teardown(() => {
    if (isRoot) process.seteuid!(0)
    rmSync(dir, { recursive: true, force: true })
  })
  const parts = await openUndo(t, { dir })
  const { at, undo, work, store } = parts
  writeFileSync(at('file'), 'content')
  mkdirSync(at('folder'))
  writeFileSync(at('folder/inner'), 'inner')
  return {
    ...parts,
    /** Does what a command would do in the folder, and returns its run. */
    async command (effect: () => unknown, runId = newId()) {
      const command = { folder: work }
      const { signal } = new AbortController()
      const call = { runId, owner: 'owner', toolCallId: newId(), toolName: 'runCommand', cwd: work, places: undefined, command, signal }
      const kept = await undo.keep(call)
      await store.transact(kept.ops)
      await effect()
      await store.transact((await kept.finish()).ops)
      return runId
    },
    mode: (path: string) => statSync(at(path)).mode & 0o777
  }
}

t.test('a file that a command made unreadable gets its permissions back, and may be taken away again', { skip }, async (t) => {
  const { at, command, changes, undo, mode, work } = await asUser(t)
  const before = stateOf(work)
  const runId = await command(() => chmodSync(at('file'), 0))
  t.match(await changes(runId), [{ path: at('file'), kind: 'changed', canUndo: true }])
  const { undoId, restored } = await undo.takeBack(runId, {})
  t.same(restored, [at('file')])
  t.same(stateOf(work), before)
  t.match(await undo.takeBack(runId, {}), { restored: [at('file')], undoId: undefined }, 'it is as before already')
  t.match(await undo.takeBack(undoId!, {}), { restored: [at('file')] })
  t.equal(mode('file'), 0)
  t.match(await undo.takeBack(runId, {}), { restored: [at('file')], skipped: [] })
  t.same(stateOf(work), before)

  // What is unreadable when a command begins comes back from the copy of an earlier one.
  const both = await command(() => chmodSync(at('file'), 0))
  await command(() => rmSync(at('file')), both)
  t.match(await undo.takeBack(both, {}), { restored: [at('file')], skipped: [] })
  t.same(stateOf(work), before)
})

t.test('what was written into a file before it became unreadable is not taken for a change of permissions', { skip }, async (t) => {
  const { at, command, undo, mode } = await asUser(t)
  utimesSync(at('file'), 1000, 1000)
  const runId = await command(() => {
    writeFileSync(at('file'), 'CONTENT')
    utimesSync(at('file'), 1000, 1000)
    chmodSync(at('file'), 0)
  })
  t.match(await undo.takeBack(runId, {}), { restored: [], skipped: [{ path: at('file'), reason: 'changed_since' }] })
  t.equal(mode('file'), 0)
  const another = await command(() => {
    chmodSync(at('file'), 0o600)
    writeFileSync(at('file'), 'longer content')
  })
  t.match(await undo.takeBack(another, {}), { restored: [], skipped: [{ reason: 'gone' }] })
})

t.test('of a folder that became unreadable the rest is said not to be known, and its permissions come back', { skip }, async (t) => {
  const { at, command, undo, work } = await asUser(t)
  const before = stateOf(work)
  for (const mode of [0, 0o600, 0o300]) {
    const runId = await command(() => chmodSync(at('folder'), mode))
    const { restored, skipped, notCovered } = await undo.takeBack(runId, {})
    t.same({ restored, skipped }, { restored: [at('folder')], skipped: [] }, mode.toString(8))
    t.match(notCovered, [{ reason: /^What it changed in these folders is not known, because .*: folder\/\.$/ }], mode.toString(8))
    t.same(stateOf(work), before)
  }
  chmodSync(at('folder'), 0)
  const opened = await command(() => chmodSync(at('folder'), 0o755))
  const { notCovered, restored } = await undo.takeBack(opened, {})
  t.match(notCovered, [{ reason: 'No copy is kept of folder.' }])
  t.same(restored, [at('folder')])
  chmodSync(at('folder'), 0o755)
  t.equal(readFileSync(at('folder/inner'), 'utf8'), 'inner')

  const made = await command(() => {
    mkdirSync(at('made'))
    writeFileSync(at('made/in'), '')
    chmodSync(at('made'), 0)
  })
  t.match(await undo.takeBack(made, {}), { skipped: [{ path: at('made'), reason: 'changed_since' }], notCovered: [{ reason: /made\// }] })
  t.ok(existsSync(at('made')))
  chmodSync(at('made'), 0o700)
})
