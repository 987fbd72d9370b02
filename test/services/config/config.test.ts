import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { basename, dirname } from 'node:path'
import t from 'tap'
import { ConfigUnusable } from '../../../services/config/config-file.ts'
import { openConfig } from '../../../services/config/config.ts'
import { copies, home, modeOf } from '../../harness/config-home.ts'
import { onSmallDisk } from '../../harness/small-disk.ts'

t.test('without a file everything is at its default, and none is made', async (t) => {
  const { dir } = home(t)
  const config = await openConfig({ dir })
  t.same(config.current, {})
  t.equal(config.problem, undefined)
  t.same(readdirSync(dir), [])
})

t.test('a directory that is missing is made for its owner alone, an open one is closed', async (t) => {
  const { dir } = home(t)
  await openConfig({ dir: `${dir}/a/b` })
  t.equal(modeOf(`${dir}/a/b`), '700')
  mkdirSync(`${dir}/open`, { mode: 0o755 })
  await openConfig({ dir: `${dir}/open` })
  t.equal(modeOf(`${dir}/open`), '700')
})

t.test('a directory that cannot be one is refused with its path and the way out', async (t) => {
  const { dir } = home(t, '{}')
  for (const path of [`${dir}/config.json`, `${dir}/config.json/below`]) {
    const error = await openConfig({ dir: path }).catch((error) => error)
    t.ok(error instanceof ConfigUnusable)
    t.match(error, { exitCode: 78, message: /LOCAL_AGENT_HOME/ })
  }
})

for (
  const [what, text] of [
    ['not JSON', '{"model": "offline/assistant",}'],
    ['cut off', '{"model": "off'],
    ['empty', ''],
    ['an array', '[]'],
    ['null', 'null'],
    ['binary', '\u0000\u0001']
  ]
) {
  t.test(`a file that is ${what} is kept aside once, and the service starts without it`, async (t) => {
    const { dir, read } = home(t, text)
    const config = await openConfig({ dir })
    t.same(config.current, {})
    const [copy] = copies(dir)
    t.match(config.problem, /^config\.json: it is not (JSON|a JSON object)/)
    t.match(config.problem, copy, 'the copy is named')
    t.equal(readFileSync(`${dir}/${copy}`, 'utf8'), text)
    t.equal(modeOf(`${dir}/${copy}`), '600')
    t.equal(read(), text, 'the file stays as it is')

    await openConfig({ dir })
    t.same(copies(dir), [copy], 'starting again keeps no second copy')
  })
}

t.test('another malformed file gets a copy of its own', async (t) => {
  const { dir, file } = home(t, '{')
  await openConfig({ dir })
  writeFileSync(file, '{{')
  await openConfig({ dir })
  t.equal(copies(dir).length, 2)
})

t.test('what is wrong is told without a secret of the file and without its path', async (t) => {
  for (const text of ['{"apiKey": sk-hidden}', '{"apiKey": "sk-hidden"', 'sk-hidden', '{"apiKey": "sk-hidden"}}']) {
    const { dir } = home(t, text)
    const { problem } = await openConfig({ dir })
    t.ok(problem)
    t.notMatch(problem, /hidden/)
    t.notMatch(problem, dir)
  }
})

/** The whole path may be longer than a socket's can be. */
async function listenAt (file: string) {
  const before = process.cwd()
  process.chdir(dirname(file))
  await once(createServer().unref().listen(basename(file)), 'listening')
  process.chdir(before)
}

/** What may lie in the file's place; a test for a device makes one of its own, since what goes wrong would harm a real one. */
const NO_FILES: Array<[string, (file: string) => unknown]> = [
  ['a folder', (file) => mkdirSync(file)],
  ['a FIFO', (file) => execFileSync('mkfifo', [file])],
  ['a socket', listenAt],
  ['a device', (file) => execFileSync('mknod', [file, 'c', '1', '3'], { stdio: 'ignore' })],
  ['a link to a file that does not exist', (file) => symlinkSync('nowhere.json', file)],
  ['a link that leads nowhere', (file) => symlinkSync('config.json', file)]
]
for (const [what, make] of NO_FILES) {
  const skip = (process.platform === 'win32' && !/folder/.test(what)) || (what === 'a device' && process.getuid?.() !== 0)
  t.test(
    `${what} in the file's place is refused and left as it is, and at a reload the last good configuration stays`,
    { skip },
    async (t) => {
      const { dir, file } = home(t)
      await make(file)
      const before = lstatSync(file)
      const error = await openConfig({ dir }).catch((error) => error)
      t.ok(error instanceof ConfigUnusable)
      t.match(error, { exitCode: 78, message: new RegExp(`config\\.json cannot be used: it is ${what}.*LOCAL_AGENT_HOME`) })
      t.match(lstatSync(file), { ino: before.ino, mode: before.mode })
      rmSync(file, { recursive: true })

      writeFileSync(file, '{"port":1}')
      const config = await openConfig({ dir })
      rmSync(file)
      await make(file)
      await t.rejects(config.reload(), { code: 'ERR_CONFIG_INVALID', message: what })
      await t.rejects(config.update((config) => ({ ...config, port: 2 })), { code: 'ERR_CONFIG_NOT_SAVED', message: what })
      t.same(config.current, { port: 1 })
      t.equal(lstatSync(file).mode, before.mode)
    }
  )
}

t.test('a save that finds room for a part alone is refused, and the file stays whole', async (t) => {
  const seen = onSmallDisk(t.testdir(), new URL('nearly-full-disk.ts', import.meta.url), 2)
  if (!seen) return t.pass('not tried', { skip: 'mounting a small file system is not permitted here' })
  t.equal(seen.saves.length, 3)
  for (const save of seen.saves) {
    t.match(save, { outcome: { code: 'ERR_CONFIG_NOT_SAVED', message: /ENOSPC/ }, isAsBefore: true, port: undefined })
    t.same(save.files, ['ballast', 'config.json'])
  }
  t.equal(seen.after, 3)
  return undefined
})

t.test('a byte order mark does not matter', async (t) => {
  const { dir } = home(t, '\uFEFF{"workspace":"/tmp"}')
  t.same((await openConfig({ dir })).current, { workspace: '/tmp' })
})

t.test('a key that does not hold counts as absent, the others are in force', async (t) => {
  const { dir } = home(t, JSON.stringify({ workspace: '/tmp', port: 'x', models: { fast: 'nonsense', vision: 'a/b' }, roots: ['/a'] }))
  const config = await openConfig({ dir })
  t.same(config.current, { workspace: '/tmp', roots: ['/a'] })
  t.match(config.problem, /"port" must be integer; "models\.fast" must be `<provider>\/<model>`/)
  t.same(copies(dir), [], 'nothing is lost, so nothing is copied')
})

const wrong: Array<[object, RegExp]> = [
  [{ model: 'gpt' }, /"model" must be `<provider>\/<model>`/],
  [{ port: 65536 }, /"port" must be <= 65535/],
  [{ port: '3001' }, /"port" must be integer/],
  [{ permissions: { writeFile: 'yes' } }, /"permissions\.writeFile" must be one of allow, ask, deny/],
  [{ permissions: ['writeFile'] }, /"permissions" must be object/],
  [{ commands: { sandbox: 'maybe' } }, /"commands\.sandbox" must be one of auto, required, off/],
  [{ mcp: [{ name: 'x' }] }, /"mcp\.0" has none of the allowed forms: .*`command`.* or `url`/],
  [{ mcp: [{ name: 'a/b', command: 'c' }] }, /"mcp\.0\.name"/],
  [{ allowedOrigins: ['*'] }, /"allowedOrigins\.0" must be an origin/],
  [{ allowedOrigins: ['null'] }, /"allowedOrigins\.0"/],
  [{ allowedOrigins: ['http://localhost:5173/'] }, /without a path/],
  [{ log: { level: 'loud' } }, /"log\.level" must be one of fatal, error/],
  [{ workspace: null }, /"workspace" must be string/]
]
for (const [value, problem] of wrong) {
  t.test(`${JSON.stringify(value)} is said to be wrong`, async (t) => {
    const { dir } = home(t, JSON.stringify(value))
    const config = await openConfig({ dir })
    t.match(config.problem, problem)
    t.same(config.current, {})
  })
}
