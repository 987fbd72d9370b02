import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { systemClock } from '../../services/lib/clock.ts'
import { awakePrograms, createKeepAwake } from '../../services/process/keep-awake.ts'
import { fakeClock } from '../harness/clock.ts'
import { startService } from '../harness/sidecar.ts'
import { tasksOf } from '../harness/tasks.ts'

/** Programs as those of the systems: each notes its arguments and its process, and runs as long as the real one. */
const STAND_INS: Record<string, string> = {
  'systemd-inhibit': 'shift 4; exec "$@"',
  caffeinate: 'while kill -0 "$3"; do sleep 0.05; done',
  'powershell.exe': 'cat >/dev/null'
}

/** Lays stand-ins of these names into a folder that comes first on the PATH. */
function standIns (t: Test, programs = STAND_INS) {
  const dir = t.testdir({ home: {}, work: {} })
  standInsIn(dir, programs)
  const started = () => existsSync(`${dir}/started`) ? readFileSync(`${dir}/started`, 'utf8').trim().split('\n') : []
  const look = async () => {
    await until(() => started().length > 0)
    return started()
  }
  return { dir, env: { ...process.env, PATH: `${dir}:${process.env.PATH}` }, started, look }
}

function standInsIn (dir: string, programs: Record<string, string>): void {
  for (const [name, body] of Object.entries(programs)) {
    writeFileSync(`${dir}/${name}`, `#!/bin/sh\necho "$$ $*" >> "${dir}/started"\n${body}\n`)
    chmodSync(`${dir}/${name}`, 0o755)
  }
}

function isAlive (pid: number): boolean {
  try {
    process.kill(pid, 0)
    // A process that has ended and waits for its parent to look counts as ended.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
const until = async (isSo: () => boolean) => { while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 10)) }
const untilDead = (pid: number) => until(() => !isAlive(pid))

function setUp (t: Test, { dir, env }: { dir: string, env: NodeJS.ProcessEnv }, platform: NodeJS.Platform) {
  const clock = { ...fakeClock(), timeout: systemClock.timeout }
  const warnings: string[] = []
  const log = { info () {}, warn: (_details: object, message: string) => void warnings.push(message) }
  const wanted = { value: true }
  const keepAwake = createKeepAwake({
    ...{ programs: awakePrograms(platform), clock, cwd: dir, log },
    env: () => env,
    isWanted: () => wanted.value
  })
  t.teardown(keepAwake.close)
  return { clock, keepAwake, warnings, wanted }
}

for (const platform of ['linux', 'darwin', 'win32'] as const) {
  t.test(`on ${platform} one program runs while work is under way, and ends with it`, async (t) => {
    const programs = standIns(t)
    const { clock, keepAwake } = setUp(t, programs, platform)
    const work = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    for (const { promise } of work) keepAwake.during(promise)
    await clock.advance(4_000)
    await keepAwake.update()
    t.same(programs.started(), [], 'short work needs none')
    await clock.advance(2_000)
    await keepAwake.update()
    const [line, ...more] = await programs.look()
    t.same(more, [])
    const pid = Number(line.split(' ')[0])
    work[0].resolve()
    await work[0].promise
    await keepAwake.update()
    t.ok(isAlive(pid), 'the other work goes on')
    work[1].resolve()
    await work[1].promise
    await keepAwake.update()
    await untilDead(pid)
    t.equal(programs.started().length, 1)
    if (platform === 'linux') t.match(line, /--what=idle:sleep --who=Local Agent Service .*--mode=block/)
    if (platform === 'darwin') t.match(line, new RegExp(`-i -w ${process.pid}$`))
  })
}

t.test('it is held from five minutes before a planned run, and let go when the configuration says so', async (t) => {
  const programs = standIns(t)
  const { clock, keepAwake, wanted } = setUp(t, programs, 'linux')
  keepAwake.setDue(clock.now() + 6 * 60_000)
  await keepAwake.update()
  t.same(programs.started(), [])
  await clock.advance(61_000)
  await keepAwake.update()
  const pid = Number((await programs.look())[0].split(' ')[0])
  wanted.value = false
  await keepAwake.update()
  await untilDead(pid)
})

t.test('a system that refuses, or has no such program, is told of once, and asked again later', async (t) => {
  const programs = standIns(t, { 'systemd-inhibit': 'echo "Failed to inhibit: Access denied" >&2; exit 1' })
  const { clock, keepAwake, warnings } = setUp(t, programs, 'linux')
  keepAwake.setDue(clock.now())
  await until(() => keepAwake.problem() !== undefined)
  t.match(keepAwake.problem(), /^systemd-inhibit does not keep this machine awake while the agent works: Failed to inhibit: Access denied$/)
  t.match(programs.started(), [/idle:sleep/, /--what=idle /])
  await clock.advance(11 * 60_000)
  await keepAwake.update()
  await until(() => programs.started().length === 4)
  t.equal(warnings.length, 1)
  t.match(keepAwake.problem(), /Access denied/)
  standInsIn(programs.dir, { 'systemd-inhibit': STAND_INS['systemd-inhibit'] })
  // Until the last program has ended nothing else is started.
  while (programs.started().length < 5) {
    await clock.advance(11 * 60_000)
    await keepAwake.update()
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  keepAwake.setDue(Infinity)
  await keepAwake.update()
  t.equal(keepAwake.problem(), undefined, 'what works again is no problem')

  const none = setUp(t, { dir: programs.dir, env: { PATH: '/nowhere' } }, 'darwin')
  none.keepAwake.setDue(0)
  await until(() => none.keepAwake.problem() !== undefined)
  t.match(none.keepAwake.problem(), /caffeinate.*not found/)
})

t.test('the service holds the machine before a planned run, and its program dies with it, also by SIGKILL', async (t) => {
  const programs = standIns(t)
  const { dir, env: { PATH } } = programs
  const service = await startService(t, { home: `${dir}/home`, cwd: `${dir}/work`, env: { PATH } })
  t.match((await (await fetch(`${service.url}/health`)).json() as any).checks.awake, 'ok')
  const tasks = await tasksOf(t, service)
  const once = new Date(Date.now() + 120_000).toISOString().slice(0, 16)
  t.match(await tasks.create('say hello', { schedule: { once, timezone: 'UTC' }, start: true }), { status: 'scheduled' })
  const pid = Number((await programs.look())[0].split(' ')[0])
  t.ok(isAlive(pid))
  service.child.kill('SIGKILL')
  await service.exited
  await untilDead(pid)
})
