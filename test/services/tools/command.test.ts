import { once } from 'node:events'
import { chmodSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { Aborted } from '../../../services/lib/abort.ts'
import { childEnvironment } from '../../../services/process/child-environment.ts'
import { findShell, systemShell } from '../../../services/process/shell.ts'
import { spawnGuarded } from '../../../services/process/spawn-guarded.ts'
import { systemClock } from '../../../services/lib/clock.ts'
import { createBackgroundCommands } from '../../../services/tools/shell/background-commands.ts'
import { fakeClock } from '../../harness/clock.ts'
import type { SharedNetwork } from '../../../services/sandbox/index.ts'
import { collectNew, collectOutput } from '../../../services/tools/shell/command-output.ts'
import { alive } from '../process/alive.ts'
import { build } from './helper.ts'

const unix = process.platform === 'win32' ? 'written for a Unix shell' : false

function lay (t: Test, environment?: NodeJS.ProcessEnv) {
  const workspace = realpathSync(t.testdir({ sub: {}, file: '' }))
  const { host, output, failure, execute } = build({ workspace, environment })
  return { workspace, host, failure, execute, run: (command: string, input: object = {}) => output('runCommand', { command, ...input }) }
}

const notHere = async () => {
  throw new Error('not here')
}

/** Waits for a file that a command writes, and reads it. */
async function written (path: string): Promise<string> {
  for (const end = Date.now() + 30_000; Date.now() < end; await wait(10)) {
    try {
      const content = readFileSync(path, 'utf8')
      if (content.endsWith('\n')) return content
    } catch {}
  }
  throw new Error(`nobody wrote ${path}`)
}

t.test('a command answers its exit code and output, apart; failing is an answer', { skip: unix }, async (t) => {
  const { run } = lay(t)
  const { durationMs, ...rest } = await run('echo out; echo err >&2; exit 3')
  t.strictSame(rest, { exitCode: 3, stdout: 'out\n', stderr: 'err\n' })
  t.ok(Number.isInteger(durationMs))
  t.match(await run('no-such-program'), { exitCode: 127, stderr: /not found/ })
  t.match(await run('kill -9 $$'), { exitCode: null, signal: 'SIGKILL' })
})

t.test('a command runs in the working directory or a folder that is allowed', { skip: unix }, async (t) => {
  const { workspace, run, failure, host } = lay(t)
  const { signal } = new AbortController()
  t.equal((await run('pwd')).stdout, `${workspace}\n`)
  t.equal((await run('pwd', { cwd: 'sub' })).stdout, `${join(workspace, 'sub')}\n`)
  t.match(await failure('runCommand', { command: 'pwd', cwd: '/etc' }), /outside/)
  t.match(await failure('runCommand', { command: 'pwd', cwd: 'file' }), /not a folder/)
  t.match(await failure('runCommand', { command: 'pwd', cwd: 'none' }), /does not exist/)
  t.match(await failure('runCommand', { command: 'a\0b' }), /NUL/)
  const refused = { refused: /^The command cannot be tried out: "none" does not exist/ }
  t.match(await host.tryOut({ name: 'runCommand', input: { command: 'pwd', cwd: 'none' }, cwd: workspace, signal }), refused)
})

t.test('a command that reads its input gets none', { skip: unix }, async (t) => {
  const { run } = lay(t)
  t.match(await run('cat; read line || echo none'), { exitCode: 0, stdout: 'none\n' })
})

t.test('the streams of a command can be opened by name', { skip: unix }, async (t) => {
  const { run } = lay(t)
  t.match(
    await run(
      'echo a > /dev/stdout; echo b > /dev/stderr; echo c | tee -a /dev/stderr >/dev/null; echo d >> /proc/self/fd/1; cat < /dev/stdin'
    ),
    { exitCode: 0, stdout: 'a\nd\n', stderr: 'b\nc\n' }
  )
})

t.test('a command sees the environment without our keys, tokens and passphrase', { skip: unix }, async (t) => {
  const environment = childEnvironment({
    PATH: process.env.PATH,
    LOCAL_AGENT_TOKEN: 'token-of-ours',
    AI_GATEWAY_API_KEY: 'key-of-ours',
    MY_COPY: 'key-of-ours',
    OTHER: 'kept'
  }, ['key-of-ours'])
  const { stdout } = await lay(t, environment).run('env')
  t.notMatch(stdout, /of-ours/)
  t.match(stdout, /^OTHER=kept$/m)
})

t.test('a background child neither holds the answer up nor lives on', { skip: unix }, async (t) => {
  const { run } = lay(t)
  const { stdout, durationMs } = await run('sleep 1000 & echo $!; setsid sleep 1000 & echo $!')
  t.same(stdout.trim().split('\n').map(Number).filter(alive), [])
  t.ok(durationMs < 1900, `${durationMs} ms`)
})

t.test('time that is up ends a command: TERM, and KILL for one that traps it', { skip: unix }, async (t) => {
  const { run } = lay(t)
  t.match(await run('echo begun; sleep 1000', { timeoutMs: 200 }), { exitCode: null, signal: 'SIGTERM', timedOut: true, stdout: 'begun\n' })
  t.match(await run('trap "echo cleaned; exit 4" TERM; while :; do sleep 0.05; done', { timeoutMs: 1000 }), {
    exitCode: 4,
    timedOut: true,
    stdout: 'cleaned\n'
  })

  const deaf = await run('trap "" TERM; sleep 1000 & echo $!; wait', { timeoutMs: 200 })
  t.match(deaf, { exitCode: null, signal: 'SIGKILL', timedOut: true })
  t.notOk(alive(Number(deaf.stdout)))
  t.ok(deaf.durationMs >= 2100 && deaf.durationMs < 9000, `${deaf.durationMs} ms`)
})

t.test('an abort ends the command and all it started, then rejects with the reason', { skip: unix }, async (t) => {
  const { workspace, execute } = lay(t)
  const leaving = new AbortController()
  const call = execute('runCommand', { command: 'sleep 1000 & echo $! $$ > pids; wait' }, { signal: leaving.signal })
  const pids = (await written(join(workspace, 'pids'))).split(/\s/).filter(Boolean).map(Number)
  t.same(pids.map(alive), [true, true])
  const reason = new Aborted('client')
  leaving.abort(reason)
  await t.rejects(call, reason)
  t.same(pids.filter(alive), [])

  await t.rejects(execute('runCommand', { command: 'echo > ran' }, { signal: leaving.signal }), reason)
  t.throws(() => readFileSync(join(workspace, 'ran')), 'what was aborted before is not begun')
})

t.test('of long output head and tail are kept, with a word on what is missing', { skip: unix }, async (t) => {
  const { run } = lay(t)
  const short = await run('head -c 65536 /dev/zero | tr "\\0" a')
  t.equal(short.stdout, 'a'.repeat(65_536))
  t.notOk(short.truncated)

  const { stdout, stderr, truncated } = await run('echo first; seq 1 200000; echo last; echo small >&2')
  t.equal(truncated, true)
  t.ok(stdout.startsWith('first\n1\n2\n') && stdout.endsWith('200000\nlast\n'))
  t.ok(stdout.length < 66_000)
  const [, left] = stdout.match(/\n\[… (\d+) bytes left out …\]\n/)
  t.equal(Number(left), 1_288_895 + 11 - 65_536)
  t.equal(stderr, 'small\n', 'the other stream is whole')

  const characters = await run('yes "\u{1f600}é" | head -c 200000')
  t.notMatch(characters.stdout.slice(0, -3), /\ufffd/, 'no character is broken')
})

t.test('a stream that closed before it was listened to is over', async (t) => {
  const stream = Readable.from([]).resume()
  await once(stream, 'close')
  const collected = collectOutput(stream, () => {})
  await collected.closed
  t.equal(collected.text(), '')
})

t.test('a character whose bytes come in two parts is shown with the second', async (t) => {
  const stream = new PassThrough()
  const { take, some } = collectNew([stream])
  const [first, second] = [Buffer.from('5 €').subarray(0, 3), Buffer.from('5 €').subarray(3)]
  stream.write(first)
  await some()
  t.same(take(), { output: '5 ', left: 0 })
  stream.write(second)
  await some()
  t.same(take(), { output: '€', left: 0 })
  stream.end('é'.repeat(50_000))
  await once(stream, 'close')
  t.match(take(), { output: /^é+$/ }, 'and of what is lost no part is')
})

t.test('a flood of output is killed at 10 MiB and held in bounded memory', { skip: unix }, async (t) => {
  const { run } = lay(t)
  const before = process.memoryUsage().rss
  const flood = await run('trap "" TERM PIPE; yes & yes >&2')
  t.match(flood, { exitCode: null, signal: 'SIGKILL', killed: true, truncated: true, message: /10485760 bytes/ })
  t.ok(flood.durationMs < 5000)
  t.ok(flood.stdout.length + flood.stderr.length < 140_000)
  t.ok(process.memoryUsage().rss - before < 60e6, 'memory')
})

t.test('many commands at once stay apart', { skip: unix }, async (t) => {
  const { run } = lay(t)
  const answers = await Promise.all(Array.from({ length: 16 }, (_, index) => run(`echo ${index}; exit ${index}`)))
  t.same(answers.map(({ stdout, exitCode }) => [stdout, exitCode]), answers.map((_, index) => [`${index}\n`, index]))
})

t.test('systemInfo tells of the machine and nothing secret', async (t) => {
  const { output } = build({ workspace: t.testdir(), environment: { SHELL: '/bin/zsh', SECRET_KEY: 'sk-123' } })
  const info = await output('systemInfo', {})
  t.match(info, {
    platform: process.platform,
    arch: process.arch,
    nodeVersion: process.version,
    cpus: { count: Number },
    memory: { totalBytes: Number }
  })
  t.notMatch(JSON.stringify(info), /sk-123/)
})

t.test('models see what a terminal would show: no colours, and the last state of a progress bar', { skip: unix }, async (t) => {
  const { output, host } = build({ workspace: realpathSync(t.testdir({})) })
  const seen = async (command: string) => (host.forModel(await output('runCommand', { command }), 'runCommand') as any).value
  const colours = String.raw`printf '\033[1;31mred\033[0m \033]8;;http://x\007link\033]8;;\007\a\b\n10%%\r 50%%\r100%%\r\ndone\r\n'; ` +
    String.raw`printf '\033[2Kerr\n' >&2`
  t.match(await seen(colours), { stdout: 'red link\n100%\ndone\n', stderr: 'err\n', exitCode: 0 })
  t.match(await output('runCommand', { command: colours }), { stdout: /\[1;31mred/ }, 'people get it as it was written')
  const { stdout, truncated, message } = await seen('seq 1 20000')
  t.ok(Buffer.byteLength(stdout) <= 33 * 1024)
  t.match(stdout, /^1\n2\n[^]*\n\[… \d+ lines left out …\]\n[^]*\n20000\n$/)
  for (const line of stdout.split('\n')) if (!/^\d*$|left out/.test(line)) t.fail(line)
  t.match({ truncated, message }, { truncated: true, message: /write it to a file/ })
})

t.test('commands run in bash where there is one, and in sh elsewhere', { skip: unix }, async (t) => {
  const dir = t.testdir({ bash: '#!/bin/sh\n', plain: '' })
  chmodSync(join(dir, 'bash'), 0o755)
  t.same(findShell([join(dir, 'none'), join(dir, 'bash')]), { name: 'bash', program: join(dir, 'bash') })
  t.same(findShell([join(dir, 'plain/none')]), { name: 'sh', program: '/bin/sh' })
  const { run } = lay(t)
  const { stdout } = await run('echo "${BASH_VERSION:-none}"') // eslint-disable-line no-template-curly-in-string
  t.equal(stdout.trim() !== 'none', systemShell().name === 'bash')
})

t.test('how the service was started is not the business of a command', { skip: unix }, async (t) => {
  const { run } = lay(t, {
    PATH: process.env.PATH,
    NODE_ENV: 'production',
    ELECTRON_RUN_AS_NODE: '1',
    npm_lifecycle_event: 'start',
    NODE_OPTIONS: '--no-warnings'
  })
  const { stdout } = await run('env')
  t.notMatch(stdout, /NODE_ENV|ELECTRON|npm_lifecycle/)
  t.match(stdout, /^NODE_OPTIONS="?--no-warnings/m)
})

t.test('commands in the background are bounded, keep the newest of their output, and end unused or with their owner', {
  skip: unix
}, async (t) => {
  const clock = fakeClock()
  const active = new Set(['busy'])
  const commands = createBackgroundCommands({
    clock,
    log: console,
    ownerOf: (runId) => runId === 'task' ? { taskId: 'one' } : { threadId: runId },
    isActive: ({ threadId }) => active.has(threadId ?? ''),
    boxes: { shareNetwork: async () => undefined, forgetOwner: async () => {} }
  })
  const start = (runId: string, command: string) =>
    commands.start({ runId, command }, async () => ({
      child: await spawnGuarded('/bin/sh', ['-c', command], { cwd: '/', env: process.env, stdin: 'closed', clock: systemClock })
    }))
  const ids = () => commands.list().map(({ threadId, taskId }) => threadId ?? taskId)

  const { commandId, ended } = await start('loud', 'yes 12345678 | head -c 100000; echo; echo last')
  await ended
  const { output, left, end } = await commands.read('loud', commandId, { ms: 0 })
  t.match(output, /^[1-8\n]+last\n$/)
  t.equal(output.length + left, 100_006, 'it says how much is lost')
  t.match(end, { exitCode: 0 })
  t.same(await commands.read('loud', commandId, { ms: 0 }), { output: '', left: 0, end }, 'what was read is gone')

  const said = await start('loud', 'echo said')
  await said.ended
  await t.rejects(commands.read('loud', said.commandId, { ms: 1_000, signal: AbortSignal.abort(new Error('stopped')) }), /stopped/)
  t.match(await commands.read('loud', said.commandId, { ms: 0 }), { output: 'said\n' }, 'a read that was stopped takes nothing')

  for (let n = 0; n < 8; n++) await start('many', 'sleep 1000')
  await t.rejects(start('many', 'sleep 1000'), { message: /^8 commands run in the background already\. End one with stopCommand first: / })
  await commands.endOf({ threadId: 'many' })
  t.same(ids(), [])

  const idle = await start('idle', 'sleep 1000')
  const talked = await start('talked', 'sleep 1000')
  await start('busy', 'sleep 1000')
  const ofTask = await start('task', 'sleep 1000')
  await clock.advance(30 * 60_000)
  await commands.read('idle', idle.commandId, { ms: 0 })
  await clock.advance(1)
  commands.used('talked')
  await clock.advance(59 * 60_000)
  await ofTask.ended
  t.same(ids(), ['idle', 'talked', 'busy'], 'a read is a use, and so is a run')
  await clock.advance(60_000 - 1)
  await idle.ended
  t.same(ids(), ['talked', 'busy'])
  await clock.advance(1)
  await talked.ended
  t.same(ids(), ['busy'])
  await t.rejects(commands.read('busy', idle.commandId, { ms: 0 }), { message: /of this conversation runs in the background/ })
  active.clear()
  await commands.close()
  t.same(ids(), [])
  await t.rejects(start('busy', 'true'), { message: 'The service is about to end.' })
})

t.test('a command waits for the network that one in the background is making, which stays until it has ended', {
  skip: unix
}, async (t) => {
  let network = Promise.withResolvers<SharedNetwork>()
  const closed: string[] = []
  const isClosed = Promise.withResolvers<void>()
  const commands = createBackgroundCommands({
    clock: systemClock,
    log: console,
    ownerOf: (runId) => ({ threadId: runId }),
    isActive: () => false,
    boxes: { shareNetwork: () => network.promise, forgetOwner: async () => {} }
  })
  const spawn = async (command: string) => ({
    child: await spawnGuarded('/bin/sh', ['-c', command], { cwd: '/', env: process.env, stdin: 'closed', clock: systemClock })
  })
  const boxed = { hosts: [] }
  const shared = (name: string): SharedNetwork => ({
    join: [name],
    open: notHere,
    async close () {
      closed.push(name)
      isClosed.resolve()
    }
  })

  const staying = commands.start({ runId: 'one', command: 'sleep', boxed }, () => spawn('sleep 1000'))
  const joined: Array<string | undefined> = []
  const beside = (runId: string) =>
    commands.besideOthers(runId, async (found) => {
      joined.push(found?.join[0])
      return spawn('sleep 1000')
    })
  await (await beside('two')).child.end(0)
  t.same(joined, [undefined], 'one of another conversation waits for none')
  const waiting = beside('one')
  network.resolve(shared('first'))
  const { child } = await waiting
  t.same(joined, [undefined, 'first'])
  await staying
  await commands.endOf({ threadId: 'one' })
  t.same(closed, [], 'the command may not have joined it yet')
  await child.end(0)
  await isClosed.promise

  network = Promise.withResolvers()
  const failing = commands.start({ runId: 'three', command: 'sleep', boxed }, () => spawn('sleep 1000'))
  const without = beside('three')
  network.reject(new Error('no network'))
  await t.rejects(failing, { message: 'no network' })
  await (await without).child.end(0)
  t.same(joined, [undefined, 'first', undefined], 'where it cannot be made, the command runs without')
})
