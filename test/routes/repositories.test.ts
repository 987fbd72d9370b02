import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, realpathSync, readlinkSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import { of, say } from '../harness/agent.ts'
import { stateOf } from '../harness/folders.ts'
import { build } from '../harness/helper.ts'
import { runOf, UNASKED, undo } from '../harness/undo.ts'
import { layRepositories, SEQUENCES, survivesUse } from '../faults/repositories.ts'

async function lay (t: Test, config: object = {}) {
  const app = await build(t, { config: { ...UNASKED, commands: { sandbox: 'off' }, ...config } })
  const cwd = realpathSync(app.cwd)
  return { app, cwd, at: (path: string) => join(cwd, path) }
}

const git = (cwd: string, ...args: string[]) =>
  spawnSync('git', ['-c', 'user.name=n', '-c', 'user.email=e@x', '-c', 'gc.auto=0', ...args], { cwd, encoding: 'utf8' }).stdout

t.test('after an undo, a repository that somebody used is left alone, and any other one is as before the run', async (t) => {
  const { app } = await lay(t)
  const template = layRepositories(`${app.cwd}-template`)
  // All of them: test/faults/repositories.long.ts.
  for (const sequence of SEQUENCES.filter((_, at) => at % 13 === 3)) {
    await t.test(sequence.join(', then '), (t) => survivesUse(t, app, template, sequence))
  }
})

t.test('a repository of which a part could not be kept is undone not at all, which the approval says before', async (t) => {
  const { app, cwd, at } = await lay(t, { undo: { maxFileMb: 1 } })
  git(cwd, 'init', '-q')
  writeFileSync(at('big.bin'), randomBytes(1_500_000))
  git(cwd, 'add', '.')
  git(cwd, 'commit', '-qm', 'first')
  git(cwd, 'repack', '-qad')
  const runId = await runOf(app, 'run `git branch made && echo x >> note.txt && git -c gc.auto=0 repack -qadf`')
  const head = git(cwd, 'for-each-ref')
  const { skipped } = await undo(app, runId)
  t.match(skipped, [{ path: at('.git'), reason: 'too_large' }])
  t.equal(git(cwd, 'for-each-ref'), head)
  t.notOk(existsSync(at('note.txt')), 'the other files are taken back')
})

t.test('the approval of a command says of which repository a part is not kept', async (t) => {
  const { app, cwd } = await lay(t, { undo: { maxFileMb: 1 }, permissions: {} })
  git(cwd, 'init', '-q')
  writeFileSync(join(cwd, '.git/objects/large'), Buffer.alloc(1_500_000))
  const { events } = await say(app, 'run `git gc`')
  t.match(of(events, 'tool-approval-request')[0].boundary.text, /Of the repository \.git a part is not kept: a command that rewrites/)
})

t.test('a database goes back with its side files, or stays with all of them when somebody has used it', async (t) => {
  const { app, cwd, at } = await lay(t)
  const open = () => new DatabaseSync(at('data.store'))
  const rows = () => {
    const database = open()
    const found = database.prepare('select x from t order by x').all().map((row) => (row as { x: number }).x)
    database.close()
    return found
  }
  const database = open()
  database.exec('pragma journal_mode = wal; create table t (x); insert into t values (1)')
  database.close()
  const insert = (x: number) => 'node -e \'const d = new (require("node:sqlite").DatabaseSync)("data.store"); ' +
    `d.exec("insert into t values (${x})"); process.kill(process.pid, 9)'; echo ${x} > note.txt`
  const first = await runOf(app, `run \`${insert(2)}\``)
  t.ok(statSync(at('data.store-wal')).size > 0, 'what was written is in the side file')
  t.match(await undo(app, first), { skipped: [] })
  t.same(rows(), [1])

  const second = await runOf(app, `run \`${insert(3)}\``)
  t.same(rows(), [1, 3], 'somebody opens it, which moves what was written into it')
  t.match(await undo(app, second), { skipped: [{ path: at('data.store'), reason: 'changed_since' }] })
  t.same(rows(), [1, 3])
  t.notOk(existsSync(join(cwd, 'note.txt')))
})

t.test('empty files, folders that became links and names that end with a carriage return come back', async (t) => {
  const { app, cwd, at } = await lay(t)
  mkdirSync(at('docs/inner'), { recursive: true })
  for (const path of ['empty.txt', 'docs/empty', 'docs/inner/a.txt', 'return\r', 'cafe\u0301', 'caf\u00e9']) {
    writeFileSync(at(path), path.includes('empty') ? '' : path)
  }
  mkdirSync(at('other'))
  writeFileSync(at('other/a.txt'), 'of others')
  const before = stateOf(cwd)
  const runId = await runOf(app, 'run `rm empty.txt && rm -r docs && ln -s other docs && rm return* && rm caf* && ln other/a.txt hard`')
  t.equal(readlinkSync(at('docs')), 'other')
  const { undoId, skipped, restored } = await undo(app, runId)
  t.same(skipped, [])
  t.ok(restored.includes(at('return\r')))
  t.same(stateOf(cwd), before)
  t.same((await undo(app, undoId!)).skipped, [])
  t.equal(readlinkSync(at('docs')), 'other')
  rmSync(at('docs'))
  symlinkSync('nowhere', at('docs'))
  await undo(app, runId)
  t.equal(readlinkSync(at('docs')), 'nowhere', 'a link of somebody else stays, and nothing is put where it leads')
  t.equal(readFileSync(at('other/a.txt'), 'utf8'), 'of others')
})
