import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  lstatSync
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createHash } from 'node:crypto'
import { linesOf } from '../../services/store/backup/backup.ts'
import { newId } from '../../services/lib/ids.ts'
import { answer, asked, of, say } from '../harness/agent.ts'
import { build } from '../harness/helper.ts'
import { changesOf, runOf, UNASKED, undo } from '../harness/undo.ts'
import { textOf } from '../harness/sse.ts'
import { withGateway } from '../harness/with-gateway.ts'

async function lay (t: Test, files: Record<string, string> = {}, config: object = {}) {
  const app = await build(t, { config: { ...UNASKED, ...config } })
  const cwd = realpathSync(app.cwd)
  const at = (path: string) => join(cwd, path)
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(at(path), '..'), { recursive: true })
    writeFileSync(at(path), content)
  }
  return { app, at, read: (path: string) => readFileSync(at(path), 'utf8') }
}

t.test('a run lists the files that it created, changed and deleted, each with its diff', async (t) => {
  const { app, at } = await lay(t, { 'old.txt': 'one\n', 'gone.txt': 'bye\n' })
  const runId = await runOf(app, 'write "two" to old.txt, then write "new" to made/new.txt, then delete gone.txt, then run `true`')

  const { changes, notCovered } = await changesOf(app, runId)
  t.match(changes, [
    { path: at('old.txt'), kind: 'changed', toolName: 'writeFile', toolCallId: String, diff: /-one\n\+two/, canUndo: true },
    { path: at('made/new.txt'), kind: 'created', diff: /\+new/, canUndo: true },
    { path: at('gone.txt'), kind: 'deleted', toolName: 'deleteFile', diff: /-bye/, canUndo: true }
  ])
  t.match(notCovered, [{ toolName: 'runCommand', target: 'true', toolCallId: String }], 'what the command did is not known')
  const page = await changesOf(app, runId, '?limit=2')
  t.equal(page.changes.length, 2)
  t.match((await changesOf(app, runId, `?limit=2&cursor=${page.nextCursor}`)).changes, [{ path: at('gone.txt') }])
})

t.test('moves and edits are kept for undo like writes', async (t) => {
  const config = {
    model: 'offline/scripted',
    analysis: false,
    offline: {
      script: [
        {
          toolCalls: [
            { toolName: 'moveFile', input: { from: 'tree', to: 'moved/here' } },
            { toolName: 'editFile', input: { path: 'a.txt', edits: [{ oldText: 'one', newText: 'two' }] } },
            { toolName: 'moveFile', input: { from: 'a.txt', to: 'b.txt', overwrite: true } }
          ]
        },
        { text: 'done' }
      ]
    }
  }
  const { app, at, read } = await lay(t, { 'a.txt': 'one', 'b.txt': 'b', 'tree/in/x': 'x' }, config)
  const runId = await runOf(app, 'go')
  t.match((await changesOf(app, runId)).changes, [
    { kind: 'moved', from: at('tree'), path: at('moved/here'), inner: 2, toolName: 'moveFile', canUndo: true },
    { kind: 'changed', path: at('a.txt'), toolName: 'editFile', diff: /-one/, canUndo: true },
    { kind: 'moved', from: at('a.txt'), path: at('b.txt'), canUndo: true }
  ])
  t.match(await undo(app, runId), { skipped: [] })
  t.same([read('a.txt'), read('b.txt'), read('tree/in/x')], ['one', 'b', 'x'])
  t.notOk(existsSync(at('moved')))
})

t.test('an undo brings everything back as it was, a dry run only says so, and the undo itself can be undone', async (t) => {
  const { app, at, read } = await lay(t, { 'old.txt': 'one', 'gone.txt': 'bye' })
  chmodSync(at('gone.txt'), 0o640)
  const runId = await runOf(
    app,
    'write "two" to old.txt, then write "three" to old.txt, then write "new" to made/new.txt, then delete gone.txt'
  )
  const restored = [at('made/new.txt'), at('gone.txt'), at('old.txt')]

  const { planned, ...dry } = await undo(app, runId, { dryRun: true })
  t.same(dry, { restored, skipped: [], notCovered: [] })
  t.match(planned!.find(({ path }: { path: string }) => path === at('gone.txt')), { kind: 'created', what: 'file', diff: /^\+bye$/m })
  t.equal(read('old.txt'), 'three')
  t.notOk(existsSync(at('gone.txt')))

  const { undoId, ...answer } = await undo(app, runId)
  t.same(answer, { restored, skipped: [], notCovered: [] })
  t.equal(read('old.txt'), 'one')
  t.equal(read('gone.txt'), 'bye')
  t.equal(statSync(at('gone.txt')).mode & 0o7777, 0o640)
  t.notOk(existsSync(at('made')), 'the folder that was made for the file is gone, too')
  t.match((await changesOf(app, runId)).changes, Array(4).fill({ canUndo: false, why: 'undone' }))

  t.match(
    await undo(app, runId),
    { undoId: undefined, restored: Array(3).fill(String), skipped: [] },
    'again: nothing to do, and the same answer'
  )
  t.equal(read('old.txt'), 'one')

  t.match((await changesOf(app, undoId!)).changes.map(({ kind, toolName }) => [kind, toolName]).sort(), [
    ['changed', 'undo'],
    ['created', 'undo'],
    ['deleted', 'undo']
  ])
  t.match((await changesOf(app, undoId!)).changes.find(({ kind }) => kind === 'changed')?.diff, /-three[^]*\+one/)
  const again = await undo(app, undoId!)
  t.same(again.skipped, [])
  t.equal(read('old.txt'), 'three')
  t.equal(read('made/new.txt'), 'new')
  t.notOk(existsSync(at('gone.txt')))
  t.match(await undo(app, runId), { skipped: [] })
  t.equal(read('old.txt'), 'one', 'and the run can be undone once more')
})

t.test('a folder that was deleted with all that is in it comes back, links and modes included', async (t) => {
  const { app, at, read } = await lay(t, { 'tree/a.txt': 'a', 'tree/deep/er/b.bin': '\0b', 'tree/empty.txt': '' })
  symlinkSync('a.txt', at('tree/link'))
  chmodSync(at('tree/a.txt'), 0o6755)
  chmodSync(at('tree/deep/er'), 0o500)
  chmodSync(at('tree/deep/er'), 0o700)
  chmodSync(at('tree/deep'), 0o750)
  const runId = await runOf(app, 'rm -r tree')
  t.notOk(existsSync(at('tree')))
  t.match((await changesOf(app, runId)).changes, [{ path: at('tree'), kind: 'deleted', inner: 6, canUndo: true }])

  t.match(await undo(app, runId), { skipped: [] })
  t.equal(read('tree/a.txt'), 'a')
  t.equal(statSync(at('tree/a.txt')).mode & 0o7777, 0o755, 'without setuid and setgid')
  t.equal(read('tree/deep/er/b.bin'), '\0b')
  t.equal(statSync(at('tree/deep')).mode & 0o777, 0o750)
  t.equal(read('tree/empty.txt'), '')
  t.equal(readlinkSync(at('tree/link')), 'a.txt')
})

t.test('only the paths that were asked for are taken back, and others are refused', async (t) => {
  const { app, at, read } = await lay(t, { 'a.txt': 'a', 'b/c.txt': 'c', 'other.txt': 'x' })
  writeFileSync(at('../outside.txt'), 'x')
  const runId = await runOf(app, 'write "1" to a.txt, then write "2" to b/c.txt')
  for (const path of ['other.txt', '../outside.txt', at('../outside.txt'), '/etc/passwd', 'b/../../outside.txt', 'b/c']) {
    const response = await app.inject({ method: 'POST', url: `/runs/${runId}/undo`, payload: { paths: ['a.txt', path] } })
    t.match(response.json(), { statusCode: 400, code: 'ERR_NOT_CHANGED' }, path)
  }
  t.equal(read('a.txt'), '1', 'a refused undo changes nothing')
  t.match(await undo(app, runId, { paths: ['b'] }), { restored: [at('b/c.txt')], skipped: [] })
  t.equal(read('a.txt'), '1')
  t.equal(read('b/c.txt'), 'c')
  t.match(await undo(app, runId, { paths: [at('a.txt')] }), { restored: [at('a.txt')] })
  t.equal(read('a.txt'), 'a')
})

t.test('what was changed since stays, and the answer says why', async (t) => {
  const files = ['edited', 'removed', 'linked', 'replaced', 'kept']
  const { app, at, read } = await lay(t, Object.fromEntries(files.map((name) => [name, 'before'])))
  const runId = await runOf(app, files.map((name) => `write "after" to ${name}`).join(', then '))
  writeFileSync(at('edited'), 'by hand')
  writeFileSync(at('target'), 'after')
  for (const name of ['removed', 'linked', 'replaced']) rmSync(at(name))
  symlinkSync('target', at('linked'))
  mkdirSync(at('replaced'))

  const { restored, skipped } = await undo(app, runId)
  t.same(restored, [at('kept')])
  t.same(Object.fromEntries(skipped.map(({ path, reason }) => [path, reason])), {
    [at('edited')]: 'changed_since',
    [at('removed')]: 'gone',
    [at('linked')]: 'link',
    [at('replaced')]: 'changed_since'
  })
  t.equal(read('edited'), 'by hand')
  t.equal(read('target'), 'after', 'nothing is written through a link')
  t.ok(statSync(at('replaced')).isDirectory())
})

t.test('a link on the way to a file, or a folder that may no longer be used, stops an undo', async (t) => {
  const { app, at } = await lay(t, { 'in/file.txt': 'before', 'elsewhere/file.txt': 'after' })
  const runId = await runOf(app, 'write "after" to in/file.txt')
  renameSync(at('in'), at('moved'))
  symlinkSync('elsewhere', at('in'))
  t.match(await undo(app, runId), { restored: [], skipped: [{ path: at('in/file.txt'), reason: 'link' }] })
  t.equal(readFileSync(at('elsewhere/file.txt'), 'utf8'), 'after')
})

t.test('changes of two runs on one file are taken back in the order in which they were made', async (t) => {
  const { app, at, read } = await lay(t, { 'file.txt': '0' })
  const first = await runOf(app, 'write "1" to file.txt')
  const second = await runOf(app, 'write "2" to file.txt')
  t.match(await undo(app, first), { restored: [], skipped: [{ path: at('file.txt'), reason: 'changed_since' }] })
  t.match(await undo(app, second), { restored: [at('file.txt')] })
  t.equal(read('file.txt'), '1')
  t.match(await undo(app, first), { restored: [at('file.txt')] })
  t.equal(read('file.txt'), '0')
})

t.test('two runs that write one file at once lose nothing: each has kept what it replaced', async (t) => {
  const { app, read } = await lay(t, { 'file.txt': 'start' })
  const runs = await Promise.all(Array.from({ length: 6 }, (_, n) => runOf(app, `write "${n}" to file.txt`, { id: `thread-${n}` })))
  const seen = [read('file.txt')]
  for (let left = runs; left.length > 0;) {
    const undone: string[] = []
    for (const runId of left) if ((await undo(app, runId)).undoId !== undefined) undone.push(runId)
    if (undone.length === 0) break
    seen.push(read('file.txt'))
    left = left.filter((runId) => !undone.includes(runId))
  }
  t.equal(seen.at(-1), 'start')
})

t.test('of two undos at once one does it', async (t) => {
  const { app, read } = await lay(t, { 'file.txt': 'before' })
  const runId = await runOf(app, 'write "after" to file.txt')
  const answers = await Promise.all(Array.from({ length: 5 }, () => undo(app, runId)))
  t.equal(answers.filter(({ undoId }) => undoId !== undefined).length, 1)
  t.ok(answers.every(({ restored }) => restored.length === 1))
  t.equal(read('file.txt'), 'before')
})

t.test('a run that waits for an approval is not over; runs nobody knows are a 404', async (t) => {
  const { app, at } = await lay(t, { 'a.txt': 'a' }, { permissions: { writeFile: 'ask', deleteFile: 'allow' } })
  const { events } = await say(app, 'delete a.txt, then write "b" to b.txt')
  const runId = of(events, 'start')[0].messageMetadata.runId
  const post = (id: string) => app.inject({ method: 'POST', url: `/runs/${id}/undo` })
  t.match((await post(runId)).json(), { statusCode: 409, code: 'ERR_RUN_LIVE' })
  t.match((await changesOf(app, runId)).changes, [{ path: at('a.txt') }], 'its changes are listed meanwhile')
  await answer(app, { [asked(events)[0]]: false })
  t.equal((await post(runId)).statusCode, 200, 'without a body: everything')
  t.ok(existsSync(at('a.txt')))
  for (const id of [newId(), 'nobody', '%00', '..%2F..']) {
    t.match((await post(id)).json(), { statusCode: 404, code: 'ERR_RUN_NOT_FOUND' }, id)
    t.equal((await app.inject(`/runs/${id}/changes`)).statusCode, 404, id)
  }
})

t.test('the copies go with the thread, and into no backup', async (t) => {
  const { app } = await lay(t, { 'a.txt': 'the old words' })
  const runId = await runOf(app, 'write "b" to a.txt', { id: 'mine' })
  const folder = join(app.home, 'undo')
  t.equal(readdirSync(folder).length, 1)
  t.equal(statSync(folder).mode & 0o777, 0o700)
  t.notOk(readFileSync(join(folder, readdirSync(folder)[0])).includes('old words'), 'enciphered')
  let records = 0
  for await (const line of linesOf(app.store.contents(new AbortController().signal, () => {}), {}, 0)) {
    t.notMatch(line, /^\["undo/)
    records++
  }
  t.ok(records > 5, 'the rest is in it')

  t.equal((await app.inject({ method: 'DELETE', url: '/threads/mine' })).statusCode, 200)
  await app.undo.idle()
  t.same(readdirSync(folder), [])
  for (const prefix of ['undo/', 'undo-file/', 'undo-owner/', 'undo-open/', 'undo-work/']) {
    for await (const key of app.store.keys(prefix)) t.fail(key)
  }
  t.equal((await app.inject(`/runs/${runId}/changes`)).statusCode, 404)
})

/** A digest of all names, kinds, modes and contents below a folder. */
function digestOf (folder: string): string {
  const hash = createHash('sha256')
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    const stat = lstatSync(join(folder, name))
    hash.update(`${name}\0${stat.mode}\0`)
    if (stat.isFile()) hash.update(readFileSync(join(folder, name)))
  }
  return hash.digest('hex')
}

t.test('a model searches a tree of 20,000 files, edits and moves what it found, and an undo leaves the tree as it was', async (t) => {
  const steps: Array<Array<{ toolName: string, input: object }>> = [
    [
      { toolName: 'searchFiles', input: { pattern: 'oldName\\(', glob: '*.ts' } },
      { toolName: 'findFiles', input: { pattern: 'needle.*' } }
    ],
    [
      { toolName: 'editFile', input: { path: 'p77/needle.ts', edits: [{ oldText: 'oldName', newText: 'newName', all: true }] } },
      { toolName: 'editFile', input: { path: 'p3/use.ts', edits: [{ oldText: 'oldName()\n', newText: 'newName()\nmore()\n' }] } },
      { toolName: 'moveFile', input: { from: 'p77/needle.ts', to: 'lib/new/name.ts' } },
      { toolName: 'moveFile', input: { from: 'p5', to: 'moved/p5' } }
    ]
  ]
  const { app, gateway } = await withGateway(t, ({ streaming }) => {
    if (!streaming) return undefined
    const toolCalls = steps.shift()
    return toolCalls === undefined ? { text: 'Renamed.' } : { toolCalls }
  }, { config: UNASKED })
  const cwd = realpathSync(app.cwd)
  for (let folder = 0; folder < 200; folder++) {
    mkdirSync(join(cwd, `p${folder}`))
    for (let file = 0; file < 100; file++) writeFileSync(join(cwd, `p${folder}/f${file}.ts`), `export const value = ${file}\n`)
  }
  writeFileSync(join(cwd, 'p77/needle.ts'), 'export function oldName() {}\noldName()\n')
  writeFileSync(join(cwd, 'p3/use.ts'), 'before\r\noldName()\r\n')
  symlinkSync('f1.ts', join(cwd, 'p5/link'))
  const before = digestOf(cwd)

  const { events } = await say(app, 'go')
  t.equal(textOf(events), 'Renamed.')
  t.same(of(events, 'tool-output-error'), [])
  // Calls that only read run at the same time; either may be the first to end.
  const [searched, found] = ['searchFiles', 'findFiles'].map((name) =>
    of(events, 'tool-output-available').find(({ toolName }) => toolName === name)!.output)
  t.same(searched.matches.map(({ path, line }: any) => [path, line]), [['p3/use.ts', 2], ['p77/needle.ts', 1], ['p77/needle.ts', 2]])
  t.same(found.files, ['p77/needle.ts'])
  t.equal(readFileSync(join(cwd, 'lib/new/name.ts'), 'utf8'), 'export function newName() {}\nnewName()\n')
  t.equal(readFileSync(join(cwd, 'p3/use.ts'), 'utf8'), 'before\r\nnewName()\r\nmore()\r\n')
  t.equal(readdirSync(join(cwd, 'moved/p5')).length, 101)
  const heard = JSON.stringify(gateway.requests.at(-1)!.body.prompt)
  t.match(heard, /p77\/needle\.ts\\+n1: export function oldName/, 'the model gets the matches as text')
  t.notMatch(heard, /@@ -1/, 'and no diff of what it wrote')

  const [{ messageMetadata: { runId } }] = of(events, 'start')
  const { changes } = await changesOf(app, runId)
  t.match(changes.slice(0, 2).map(({ path, kind, toolName }) => [path, kind, toolName]), [
    [join(cwd, 'p77/needle.ts'), 'changed', 'editFile'],
    [join(cwd, 'p3/use.ts'), 'changed', 'editFile']
  ])
  t.same((await undo(app, runId)).skipped, [])
  t.equal(digestOf(cwd), before, 'every file, link and mode is as it was')
})
