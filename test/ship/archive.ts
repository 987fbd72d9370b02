import { strictEqual, match, ok, deepStrictEqual } from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { exercise } from '../harness/exercise.ts'
import { ROOT } from '../harness/source-tree.ts'
import { places, scratch } from './scratch.ts'
import { start } from './start.ts'

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

const executable = join(place, folder, 'local-agent')
const service = await start(executable, { cwd, home, uid, env: { PATH: '/usr/bin:/bin' } })
await exercise(service.url, cwd)
strictEqual(await service.stop(), 0)
deepStrictEqual(files(), before, 'nothing is written beside it')
for (const name of ['LICENSE', 'LICENSE-node', 'THIRD-PARTY-NOTICES']) ok(existsSync(join(place, folder, name)), name)

const homeless = { cwd, uid, gid: uid, env: { HOME: join(dir, 'none') }, encoding: 'utf8' } as const
const { status, stderr } = spawnSync(executable, ['--port', '0'], homeless)
strictEqual(status, 78, stderr)
match(stderr, /LOCAL_AGENT_HOME/)
const seconds = Math.round((performance.now() - began) / 1000)
console.log(`archive: ${(size / 1e6).toFixed(1)} MB; run, approval, task and docs work from a folder that cannot be written (${seconds} s)`)
