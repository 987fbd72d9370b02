import { strictEqual, match, ok, deepStrictEqual } from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { noDisplay, startDisplay } from '../harness/display.ts'
import { ask, exercise, spoil, until } from '../harness/exercise.ts'
import { ROOT } from '../harness/source-tree.ts'
import { places, scratch } from './scratch.ts'
import { start, type Started } from './start.ts'

// Makes the sidecar archive of the built service, unpacks it into a folder that cannot be written, and uses it there.

const LARGEST = 60e6
/** A user who is not root, to whom a folder can be read-only. */
const NOBODY = 65_534

const began = performance.now()
const said = execFileSync(process.execPath, [join(ROOT, 'scripts/sidecar.ts')], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
match(said, /one executable/)
const made = join(ROOT, 'dist/sidecar')
const archive = join(made, readdirSync(made).find((name) => name.endsWith('.tar.gz'))!)
const { size } = statSync(archive)
ok(size <= LARGEST, `the archive takes ${size} bytes`)

const dir = scratch()
const uid = process.getuid?.() === 0 ? NOBODY : undefined
const { cwd, home } = places(dir, uid)
const place = join(dir, 'Program Files (x86) & more')
mkdirSync(place)
execFileSync('tar', ['-xzf', archive, '-C', place])
const [folder] = readdirSync(place)
const files = () => readdirSync(place, { recursive: true }).map(String).sort()
for (const name of ['', ...files()]) chmodSync(join(place, name), statSync(join(place, name)).mode & 0o555)
const before = files()

const isWindows = process.platform === 'win32'
const executable = join(place, folder, isWindows ? 'local-agent.exe' : 'local-agent')
const display = noDisplay ? undefined : await startDisplay({ teardown: (end) => process.once('exit', () => void end()) })
const env = { PATH: isWindows ? process.env.PATH : '/usr/bin:/bin', DISPLAY: display?.name }
const run = (): Promise<Started> => start([executable], { cwd, home, uid, env })
const look = async ({ url }: Started) => {
  if (display) match(JSON.stringify(await ask(url, 'take a screenshot', cwd)), /"width":800,"height":600/)
}
const service = await run()
await exercise(service.url, cwd)
await look(service)
strictEqual(await service.stop(), 0)
deepStrictEqual(files(), before, 'nothing is written beside it')
for (const name of ['LICENSE', 'LICENSE-node', 'THIRD-PARTY-NOTICES']) ok(existsSync(join(place, folder, name)), name)

// Its data is repaired in a child process.
rmSync(join(home, 'data/CURRENT'))
const second = await run()
ok(readdirSync(home).some((name) => name.startsWith('data.damaged-')))

// It is killed: a command of it ends. On Windows it does not.
if (!isWindows) {
  // In a box a command sees no process id of this machine, so it gives signs of life.
  void ask(second.url, 'run `while :; do echo x >> command.beat; sleep 0.1; done`', cwd).catch(() => {})
  const beats = () => statSync(join(cwd, 'command.beat'), { throwIfNoEntry: false })?.size ?? 0
  await until(() => beats() > 0)
  process.kill(second.pid, 'SIGKILL')
  let [last, since] = [-1, 0]
  await until(() => {
    if (beats() !== last) [last, since] = [beats(), performance.now()]
    return performance.now() - since > 1_000
  })
} else {
  await second.stop()
}

// Another version is unpacked over it while it runs. On Windows the files of a running program are locked.
if (!isWindows) {
  const third = await run()
  execFileSync('chmod', ['-R', 'u+w', place])
  execFileSync('tar', ['-xzf', archive, '-C', place])
  rmSync(executable)
  writeFileSync(executable, '#!/bin/sh\nexit 1\n', { mode: 0o755 })
  spoil(join(place, folder, 'lib/dist'))
  await exercise(third.url, cwd, 'updated')
  await look(third)
  strictEqual(await third.stop(), 0)
  execFileSync('tar', ['-xzf', archive, '-C', place])
}

const homeless = { cwd, uid, gid: uid, env: { HOME: join(dir, 'none') }, encoding: 'utf8' } as const
const { status, stderr } = spawnSync(executable, ['--port', '0'], homeless)
strictEqual(status, 78, stderr)
match(stderr, /LOCAL_AGENT_HOME/)
await display?.stop()
const seconds = Math.round((performance.now() - began) / 1000)
const megabytes = (size / 1e6).toFixed(1)
console.log(`archive: ${megabytes} MB; run, approval, task, docs, repair and update work from a read-only folder (${seconds} s)`)
