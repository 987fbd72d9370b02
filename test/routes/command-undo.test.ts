import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { asked, of, say } from '../harness/agent.ts'
import { stateOf } from '../harness/folders.ts'
import { build } from '../harness/helper.ts'
import { changesOf, runOf, UNASKED, undo } from '../harness/undo.ts'

function git (cwd: string, ...args: string[]) {
  const { status, stderr } = spawnSync('git', ['-c', 'user.name=n', '-c', 'user.email=e@x', ...args], { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
}

/** A project with a repository, among its files one that is ignored, a link and an empty folder. */
async function project (t: Test, config: object = {}) {
  const app = await build(t, { config: { ...UNASKED, ...config } })
  const cwd = realpathSync(app.cwd)
  mkdirSync(join(cwd, 'src/deep'), { recursive: true })
  mkdirSync(join(cwd, 'empty'))
  mkdirSync(join(cwd, 'dist'))
  const files = {
    'a.txt': 'alpha\n',
    'src/b.js': 'let b = 1\n',
    'src/deep/c.bin': Buffer.from([0, 255, 7]),
    'run.sh': '#!/bin/sh\n',
    '.env': 'KEY=1\n'
  }
  for (const [path, content] of Object.entries(files)) writeFileSync(join(cwd, path), content)
  writeFileSync(join(cwd, 'big.bin'), Buffer.alloc(700_000, 'big'))
  writeFileSync(join(cwd, '.gitignore'), 'dist/\n.env\n')
  writeFileSync(join(cwd, 'dist/out.js'), 'built\n')
  chmodSync(join(cwd, 'run.sh'), 0o755)
  symlinkSync('a.txt', join(cwd, 'link'))
  git(cwd, 'init', '-q')
  git(cwd, 'add', '.')
  git(cwd, 'commit', '-qm', 'first')
  /** All but what is never taken away. */
  const state = () => Object.fromEntries(Object.entries(stateOf(cwd)).filter(([path]) => !path.startsWith('.git/objects/')))
  return { app, cwd, stateOf: state }
}

/** Commands that people fear, and what of the project their changes name. */
const COMMANDS: Array<[command: string, changed: string[]]> = [
  ['rm -rf src empty a.txt', ['src', 'empty', 'a.txt']],
  ['rm -rf .git .env', ['.git', '.env']],
  ["sed -i 's/alpha/omega/' a.txt", ['a.txt']],
  ['mv src lib && mv a.txt lib/z.txt', ['src', 'lib']],
  ['chmod 600 run.sh && chmod 700 src', ['run.sh', 'src']],
  ['ln -sf src/b.js link && ln a.txt hard && ln -s nowhere other', ['link', 'hard', 'other']],
  ['git rm -q -r src && git -c user.name=n -c user.email=e@x commit -qm second', ['src', '.git/index']],
  ['echo x > new.txt; git clean -qfd; git checkout -q -b other', ['.git/HEAD']],
  ['rm a.txt && mkdir a.txt && touch a.txt/in && rm -r empty && echo file > empty', ['a.txt', 'empty']],
  ['truncate -s 5 big.bin; printf more >> src/deep/c.bin', ['big.bin', 'src/deep/c.bin']]
]

t.test('what a command did is listed, and taken back to the byte', async (t) => {
  const { app, cwd, stateOf } = await project(t)
  const before = stateOf()
  for (const [command, expected] of COMMANDS) {
    const runId = await runOf(app, `run \`${command}\``)
    const after = stateOf()
    t.notSame(after, before, command)
    const { changes, notCovered } = await changesOf(app, runId)
    const paths = changes.flatMap(({ path, from }) => [path, ...from === undefined ? [] : [from]].map((each) => each.slice(cwd.length + 1)))
    for (const path of expected) t.ok(paths.includes(path), `${command}: ${path} in ${paths.join(', ')}`)
    t.ok(changes.every(({ canUndo, toolName }) => canUndo && toolName === 'runCommand'))
    t.match(notCovered, [{ toolName: 'runCommand', target: command, reason: 'No copy is kept of dist.' }])
    const { undoId, skipped } = await undo(app, runId)
    t.same(skipped, [], command)
    t.same(stateOf(), before, command)
    t.same((await undo(app, undoId!)).skipped, [])
    t.same(stateOf(), after, `${command}, again`)
    await undo(app, runId)
    t.same(stateOf(), before)
  }
})

t.test('a command that changed nothing is not among the changes; one outside the box may have changed what nobody knows', async (t) => {
  const { app } = await project(t, { commands: { sandbox: 'off' } })
  t.match(await changesOf(app, await runOf(app, 'run `cat a.txt`')), {
    changes: [],
    notCovered: [{ target: 'cat a.txt', reason: 'What it does elsewhere is not known here. No copy is kept of dist.' }]
  })
})

t.test('the approval of a command says what of it could be undone', async (t) => {
  const { app, cwd } = await project(t, { permissions: {} })
  const { events } = await say(app, 'run `rm -rf src dist`')
  t.equal(asked(events).length, 1)
  const text = `What it changes in ${JSON.stringify(cwd)} can be undone. No copy is kept of dist. What it does elsewhere is not known here.`
  t.match(of(events, 'tool-approval-request')[0].boundary.text, text)
})

t.test('what another conversation writes while a command runs is not the work of the command', async (t) => {
  const { app, cwd } = await project(t)
  spawnSync('mkfifo', [join(cwd, 'gate')])
  const running = runOf(app, 'run `cat gate; echo mine > mine.txt`')
  // Opens when the command reads, and so runs.
  const gate = await open(join(cwd, 'gate'), 'w')
  const other = await runOf(app, 'write "x" to other.txt', { id: 'other' })
  await gate.close()
  const paths = async (runId: string) => (await changesOf(app, runId)).changes.map(({ path }) => basename(path))
  t.same(await paths(await running), ['mine.txt'])
  t.same(await paths(other), ['other.txt'])
})

t.test('an undo leaves what a command of another run may have made meanwhile, unless it is named', async (t) => {
  const { app, cwd } = await project(t)
  spawnSync('mkfifo', [join(cwd, 'gate')])
  const running = runOf(app, 'run `cat gate; echo mine > mine.txt`')
  const gate = await open(join(cwd, 'gate'), 'w')
  const other = await runOf(app, 'run `echo theirs > theirs.txt`', { id: 'other' })
  await gate.close()
  const mine = await running
  const alone = await runOf(app, 'run `echo alone > alone.txt`', { id: 'other' })
  const listed = async (runId: string) =>
    (await changesOf(app, runId)).changes.map(({ path, canUndo, why }) => ({ path: basename(path), canUndo, why }))
      .sort((a, b) => a.path < b.path ? -1 : 1)
  const [ofMine, ofTheirs] = ['mine.txt', 'theirs.txt'].map((path) => ({ path, canUndo: true, why: 'shared' }))
  t.same(await listed(mine), [ofMine, ofTheirs], 'nobody knows which of the two commands made a file')
  t.same(await listed(other), [ofTheirs])
  t.same(await listed(alone), [{ path: 'alone.txt', canUndo: true, why: undefined }], 'a command that began later')
  t.match(await undo(app, mine), { restored: [], skipped: [{ reason: 'shared' }, { reason: 'shared' }] })
  t.ok(readdirSync(cwd).includes('theirs.txt'))
  t.match(await undo(app, mine, { paths: ['mine.txt'] }), { restored: [join(cwd, 'mine.txt')] })
  t.same(readdirSync(cwd).filter((name) => name.endsWith('.txt')).sort(), ['a.txt', 'alone.txt', 'theirs.txt'])
})

t.test('copies that commands of one conversation alone need go with it, and those of others stay', async (t) => {
  const { app } = await project(t)
  const copies = () => readdirSync(join(app.home, 'undo')).length
  const kept = [await runOf(app, 'run `echo 1 >> a.txt`', { id: 'kept' })]
  await runOf(app, 'run `echo 2 > src/b.js`', { id: 'gone' })
  await runOf(app, 'run `echo 3 > src/b.js`', { id: 'gone' })
  kept.push(await runOf(app, 'run `echo 4 >> a.txt`', { id: 'kept' }))
  const before = copies()
  await app.inject({ method: 'DELETE', url: '/threads/gone' })
  await app.undo.idle()
  t.equal(copies(), before - 1, 'what was in src/b.js meanwhile')
  for (const runId of kept.reverse()) t.match(await undo(app, runId), { skipped: [], restored: [/a\.txt$/] })
})

t.test('an undo takes away nothing that it cannot bring back', async (t) => {
  const { app, cwd } = await project(t, { undo: { maxFileMb: 1 } })
  writeFileSync(join(cwd, 'large.bin'), Buffer.alloc(1_500_000, 'large'))
  writeFileSync(join(cwd, '../outside.txt'), 'from elsewhere')
  // A time that the record of the folder is later than.
  await setTimeout(150)
  const runId = await runOf(app, 'run `mv ../outside.txt in.txt; mv dist kept; mv large.bin a.bin`')
  t.match(await changesOf(app, runId), {
    notCovered: [{ reason: /What was moved into the folder stays there: in\.txt, kept\/out\.js\./ }]
  })
  const { restored } = await undo(app, runId)
  t.same(restored.filter((path) => /in\.txt|kept|\.bin/.test(path)), [])
  const state = stateOf(cwd)
  for (const path of ['in.txt', 'kept/out.js', 'a.bin']) t.match(state[path], /^file/, path)
})
