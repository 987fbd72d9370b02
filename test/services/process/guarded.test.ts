import { spawn, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { openSync, closeSync, readdirSync, readlinkSync } from 'node:fs'
import { systemClock as clock } from '../../../services/lib/clock.ts'
import { fakeClock } from '../../harness/clock.ts'
import { spawnGuarded, makePipes } from '../../../services/process/spawn-guarded.ts'
import { alive, allGone, withArgument } from './alive.ts'
import { childEnvironment } from '../../../services/process/child-environment.ts'
import { runCode, runPacked } from '../../../services/process/run-code.ts'
import { childProgram, workerProgram } from '../../../services/process/own-programs.ts'

const linux = process.platform === 'linux'
const run = (line: string, options: { stdin?: 'closed' | 'pipe', env?: NodeJS.ProcessEnv, cwd?: string } = {}) =>
  spawnGuarded('/bin/sh', ['-c', line], { cwd: '/', env: process.env, stdin: 'closed', clock, ...options })

/** The numbers on the first `count` lines: commands tell the ids of what they start. */
async function pids (stream: Readable, count: number): Promise<number[]> {
  const found: number[] = []
  for await (const line of createInterface({ input: stream })) {
    found.push(Number(line))
    if (found.length === count) break
  }
  return found
}

t.test('a command runs with its arguments, folder and environment as given and answers with its exit code', async (t) => {
  const cwd = t.testdir()
  const child = await spawnGuarded('/bin/sh', ['-c', 'echo "$0|$1|$PWD|$NAME"; echo bad >&2; exit 7', 'a b', '$x "q"'], {
    cwd,
    env: { PATH: process.env.PATH, NAME: 'value' },
    stdin: 'closed',
    clock
  })

  t.same(await Promise.all([text(child.stdout), text(child.stderr), child.exited]), [`a b|$x "q"|${cwd}|value\n`, 'bad\n', {
    code: 7,
    signal: null
  }])
})

t.test('processes that take a moment to end are waited for in the time of the system, whatever clock decides on deadlines', {
  skip: !linux
}, async (t) => {
  const child = await spawnGuarded('/bin/sh', ['-c', 'trap "sleep 0.5; exit" TERM; echo $$; while :; do sleep 0.05; done'], {
    ...{ cwd: '/', env: process.env, stdin: 'closed', clock: fakeClock() }
  })
  const [pid] = await pids(child.stdout, 1)
  await child.end()
  t.notOk(alive(pid))
})

t.test('the guard is neither a job nor a child of the command', async (t) => {
  const child = await run('jobs; wait; cat /proc/$$/task/$$/children; echo done')
  // `cat` itself is the one child there is.
  t.match(await text(child.stdout), /^\d+ done\n$/)
})

t.test('the end of the pair that the guard waits on is closed for the command', { skip: !linux }, async (t) => {
  const child = await run('[ -e /proc/$$/fd/2 ] && [ ! -e /proc/$$/fd/3 ] && echo closed')
  t.equal(await text(child.stdout), 'closed\n')
})

t.test('a closed stdin reads as an end, an open one carries what is written', async (t) => {
  const closed = await run('cat; echo end')
  t.equal(await text(closed.stdout), 'end\n')

  const open = await run('read line; echo "got $line"', { stdin: 'pipe' })
  open.stdin!.end('word\n')
  t.equal(await text(open.stdout), 'got word\n')
})

t.test('writing to a command that has gone is no crash', async (t) => {
  const child = await run('exit 0', { stdin: 'pipe' })
  await child.exited
  child.stdin!.write('x'.repeat(1e6))
  await child.end()
  t.pass('still here')
})

t.test('a program that is not found exits with 127, a folder that is not there rejects', async (t) => {
  const child = await spawnGuarded('no-such-program', [], { cwd: '/', env: process.env, stdin: 'closed', clock })
  t.match(await text(child.stderr), /not found/)
  t.equal((await child.exited).code, 127)
  await t.rejects(run('true', { cwd: '/no/such/folder' }), { code: 'ENOENT' })
})

t.test('what a command leaves in the background ends with it', { skip: !linux }, async (t) => {
  // The command must not end before what it leaves has begun.
  const there = 'until [ -e there ]; do sleep 0.01; done; rm there'
  const cwd = t.testdir()
  for (
    const [kind, line] of [
      ['a background child', 'sleep 1000 & echo $!'],
      ['one without our streams', 'sleep 1000 >/dev/null 2>&1 & echo $!'],
      ['one that ignores HUP', 'nohup sleep 1000 >/dev/null 2>&1 & echo $!'],
      ['one in a session of its own', `setsid sh -c "echo \\$\\$; touch there; exec sleep 1000" & ${there}`],
      ['a daemon, twice forked in its own session', `( ( setsid sh -c "echo \\$\\$; touch there; exec sleep 1000 >&-" & ) & ); ${there}`],
      ['one in a group of its own', 'bash -mc "sleep 1000 & echo \\$!"'],
      ['one the shell disowned', 'bash -c "sleep 1000 & disown; echo \\$!"'],
      ['one forked away by setsid', `setsid -f sh -c "echo \\$\\$; touch there; exec sleep 1000"; ${there}`],
      ['one that was stopped', 'sleep 1000 & kill -STOP $!; echo $!'],
      [
        'a daemon without environment, files and folder of the command',
        `( ( cd /; exec env -i setsid sh -c "echo \\$\\$; echo >'${cwd}/there'; exec sleep 1000 <&- >&- 2>&-" ) & ); ${there}`
      ]
    ] as const
  ) {
    const child = await run(line, { cwd })
    const [[left]] = await Promise.all([pids(child.stdout, 1), child.exited])
    await child.end()
    t.ok(left > 0)
    t.notOk(alive(left), kind)
  }
})

t.test('end lets a command clean up, and kills what does not', { skip: !linux }, async (t) => {
  const tidy = await run('trap "echo cleaned; exit 5" TERM; echo $$; while :; do sleep 0.05; done')
  const spoke = once(tidy.stdout, 'data')
  const output = text(tidy.stdout)
  await spoke
  await tidy.end()
  t.match(await output, /cleaned/)
  t.same(await tidy.exited, { code: 5, signal: null })

  const apart = await run('setsid sh -c "trap \'echo cleaned; exit\' TERM; echo ready; while :; do sleep 0.05; done" & wait')
  const ready = once(apart.stdout, 'data')
  const told = text(apart.stdout)
  await ready
  await apart.end()
  t.match(await told, /cleaned/, 'in a session of its own, too')

  const deaf = await run('trap "" TERM; sleep 1000 & echo $!; setsid sleep 1000 & echo $!; wait; wait')
  const started = await pids(deaf.stdout, 2)
  const since = performance.now()
  await deaf.end()
  t.same(await deaf.exited, { code: null, signal: 'SIGKILL' })
  t.same([deaf.pid, ...started].filter(alive), [])
  t.ok(performance.now() - since >= 1900, 'it was given 2 s')
})

t.test('end without grace kills at once, even while an end with grace waits', { skip: !linux }, async (t) => {
  const child = await run('trap "" TERM; echo $$; while :; do sleep 1000; done')
  await pids(child.stdout, 1)
  const since = performance.now()
  await Promise.all([child.end(60_000), child.end(0)])
  t.ok(performance.now() - since < 30_000)
  t.notOk(alive(child.pid))
  child.kill('SIGKILL')
})

t.test('kill reaches the whole group', { skip: !linux }, async (t) => {
  const child = await run('sleep 1000 & echo $!; wait')
  const [inner] = await pids(child.stdout, 1)
  child.kill('SIGKILL')
  await allGone([child.pid, inner])
  t.equal((await child.exited).signal, 'SIGKILL')
})

t.test('the death of the service, SIGKILL included, ends everything it started', { skip: !linux }, async (t) => {
  const line = `trap "" TERM; echo $$
    sleep 1000 & echo $!
    nohup sleep 1000 >/dev/null 2>&1 & echo $!
    setsid sleep 1000 & echo $!
    sleep 1000 & kill -STOP $!; echo $!
    ( ( cd /; exec env -i setsid sh -c 'echo $$; exec sleep 1000 <&- >&- 2>&-' ) & )
    kill -TERM 0
    while :; do sleep 1000; done`
  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    const parent = spawn(process.execPath, [fileURLToPath(new URL('parent.ts', import.meta.url)), line], {
      stdio: ['ignore', 'pipe', 'inherit']
    })
    const started = await pids(parent.stdout, 6)
    t.ok(alive(started[0]), 'the command ignores TERM')
    parent.kill(signal)
    await t.resolves(allGone(started), signal)
  }
})

t.test('a storm of processes ends with its command, also when each begins a session of its own', { skip: !linux }, async (t) => {
  const marker = `86400.${process.pid}`
  const child = await run(`
    storm () { setsid -f sh -c "sleep ${marker}" </dev/null >/dev/null 2>&1; }
    for i in 1 2 3 4 5 6 7 8; do (while :; do storm; done) & done
    echo begun; sleep 0.3`)
  await once(child.stdout, 'data')
  await child.exited
  await child.end()
  t.same(withArgument(marker), [])
})

t.test('what a command sees in its environment is what it was given', async (t) => {
  const child = await run('env | sort', { env: { PATH: process.env.PATH, NAME: 'value' } })
  // The test runner adds its own to every child.
  const names = (await text(child.stdout)).match(/^\w+(?==)/gm)!.filter((name) => !/^_TAPJS|^NODE_OPTIONS$/.test(name))
  t.same(names, ['NAME', 'PATH', 'PWD'])
})

t.test('a guarded command within another is ended with its own, and with the outer one', { skip: !linux }, async (t) => {
  const parent = fileURLToPath(new URL('parent.ts', import.meta.url))
  const outer = await run(
    `'${process.execPath}' '${parent}' 'sleep 1000 & echo $!; ( ( exec setsid -f env -i sh -c "echo \\$\\$; exec sleep 1000" ) & ); ` +
    'wait; sleep 1000\''
  )
  const started = await pids(outer.stdout, 2)
  t.same(started.map(alive), [true, true])
  await outer.end()
  await t.resolves(allGone(started))
})

t.test('many commands at once each end with their own', { skip: !linux }, async (t) => {
  const all = await Promise.all(Array.from({ length: 20 }, async (_, index) => {
    const child = await run(`sleep 1000 & echo $!; exit ${index}`)
    const [[left], exit] = await Promise.all([pids(child.stdout, 1), child.exited])
    await child.end()
    return { left, code: exit.code }
  }))
  t.same(all.map(({ code }) => code), [...all.keys()])
  t.same(all.filter(({ left }) => alive(left)), [])
})

t.test('a child gets the environment without what is ours', async (t) => {
  const given = childEnvironment({
    PATH: '/bin',
    LOCAL_AGENT_TOKEN: 'a',
    local_agent_passphrase: 'b',
    AI_GATEWAY_API_KEY: 'c',
    AI_GATEWAY_BASE_URL: 'd',
    OTEL_EXPORTER_OTLP_HEADERS: 'api-key=e',
    GONE: undefined
  })
  t.strictSame(given, { PATH: '/bin' })
})

t.test('a child gets no variable that looks like a secret, and what shells, git and proxies need', async (t) => {
  const secrets = { GITHUB_TOKEN: 'a', OPENAI_API_KEY: 'b', MYSQL_PWD: 'c', aws_secret_access_key: 'd', DATABASE_URL: 'postgres://a:b@c/d' }
  const others = { PWD: '/', SSH_AUTH_SOCK: '/s', GIT_CONFIG_KEY_0: 'a.b', XDG_SESSION_TYPE: 'x11', GOPRIVATE: 'x' }
  const proxy = { HTTPS_PROXY: 'http://ada:pw@proxy:8080' }
  t.strictSame(childEnvironment({ ...secrets, ...others, ...proxy }), { ...others, ...proxy })
})

t.test('a secret is dropped whatever the variable is called, and inside another value', async (t) => {
  const environment = { COPY: 'key-of-the-gateway', HEADER: 'Bearer key-of-the-gateway', PIN: '12', YEAR: '2012', EMPTY: '' }
  t.strictSame(childEnvironment(environment, ['key-of-the-gateway', '12', '']), { YEAR: '2012', EMPTY: '' })
  t.equal(environment.COPY, 'key-of-the-gateway', 'the environment itself is left alone')
})

const PARAMETERS = '(function (require, __filename, __dirname, __url, __runOther)'

t.test('a program of the pack knows its place, requires packages from there, and runs others of the pack', async (t) => {
  const first = `${PARAMETERS} { return { __filename, __dirname, __url, join: require('node:path').join, other: __runOther('b.cjs') } })`
  const second = `${PARAMETERS} { return 'the other' })`
  const dir = t.testdir({ pack: `head${first}${second}` })
  const fd = openSync(`${dir}/pack`, 'r')
  t.teardown(() => closeSync(fd))
  const index = { 'a.cjs': [4, first.length], 'b.cjs': [4 + first.length, second.length] } as const

  t.match(runPacked(runCode, fd, { 'a.cjs': [...index['a.cjs']], 'b.cjs': [...index['b.cjs']] }, '/an app', 'a.cjs'), {
    __filename: '/an app/a.cjs',
    __dirname: '/an app',
    __url: 'file:///an%20app/a.cjs',
    join: Function,
    other: 'the other'
  })
})

const notLinux = process.platform !== 'linux' && 'Node gives children sockets there'

t.test('without mkfifo a child gets sockets, and nothing is left behind', { skip: notLinux }, async (t) => {
  const folder = t.testdir({})
  const { TMPDIR } = process.env
  process.env.TMPDIR = folder
  t.teardown(() => {
    if (TMPDIR === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = TMPDIR
  })
  t.equal(await makePipes(2, { PATH: '/no/such/folder' }), undefined)
  t.same(readdirSync(folder), [])
})

t.test('elsewhere than on Linux a child gets sockets', async (t) => {
  const original = Object.getOwnPropertyDescriptor(process, 'platform')!
  Object.defineProperty(process, 'platform', { value: 'darwin', configurable: true })
  t.teardown(() => Object.defineProperty(process, 'platform', original))
  t.equal(await makePipes(1, process.env), undefined)
})

const noProc = process.platform !== 'linux' && 'reads /proc'

/** Gives the process a property until the test ends. */
function replace (t: Test, name: 'execPath' | 'versions', value: unknown) {
  const original = Object.getOwnPropertyDescriptor(process, name)!
  Object.defineProperty(process, name, { value, configurable: true })
  t.teardown(() => Object.defineProperty(process, name, original))
}

t.test('children run the program that this process executes, whatever execPath says', { skip: noProc }, async (t) => {
  const running = readlinkSync('/proc/self/exe')
  replace(t, 'execPath', '/a/launcher/that/must/not/run')
  const { command, args, env } = childProgram('salvage', ['--help'])
  t.equal(command, running)
  t.same(env, {}, 'and get nothing of Electron')
  t.match(args, [/workers\/salvage\.ts$/, '--help'])
  t.equal(execFileSync(command, ['-p', '1 + 1'], { encoding: 'utf8' }), '2\n')
})

t.test('children of an Electron app run its executable as Node', async (t) => {
  replace(t, 'versions', { ...process.versions, electron: '45.4.1' })
  t.same(childProgram('desktop').env, { ELECTRON_RUN_AS_NODE: '1' })
})

t.test('elsewhere than on Linux, children run execPath', async (t) => {
  const original = Object.getOwnPropertyDescriptor(process, 'platform')!
  Object.defineProperty(process, 'platform', { value: 'darwin', configurable: true })
  t.teardown(() => Object.defineProperty(process, 'platform', original))
  t.equal(childProgram('desktop').command, process.execPath)
})

t.test('without a build, workers run their source', async (t) => {
  const { program, eval: isText } = workerProgram('task')
  t.match(String(program), /workers\/task\.ts$/)
  t.equal(isText, false)
})

t.test('the threads that read and write files get work also while the service has none', { timeout: 60_000 }, async (t) => {
  const dir = t.testdir()
  // In a process of its own: the runner of the tests replaces the hooks of this one.
  const child = spawn(process.execPath, [fileURLToPath(new URL('woken.ts', import.meta.url)), dir], {
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  t.teardown(() => child.kill('SIGKILL'))
  t.match(await text(child.stdout), /^woken\nwoken\n/)
})
